#!/usr/bin/env bash
# Hands hostile bytes to every reader of files, each for so many seconds (60), and prints a line for each:
# libFuzzer and the address and undefined-behaviour sanitizers for the program's, Atheris for those of tools/data.
#   tools/fuzz.sh [SECONDS] [TARGET...]
# What they have learned is kept in build/fuzz/corpora, what they find in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
compiled=(config overrides sweep result results metrics corpus text vocabulary bench run rendezvous
  safetensors progress)
python=(sgm catalog)
targets=("$@")
[ $# -gt 0 ] || targets=("${compiled[@]}" "${python[@]}")

# $1 is in the list that follows.
among() {
  local one=$1
  shift
  [[ " $* " == *" $one "* ]]
}

clang=$(command -v clang++ clang++-19 clang++-16 clang++-15 clang++-14 | head -1) || true
if [ -z "$clang" ]; then
  echo "tools/fuzz.sh: Clang with libFuzzer is needed: apt-get install clang libclang-rt-14-dev" >&2
  exit 1
fi
tools/setup.sh
mkdir -p build/fuzz/corpora build/fuzz/findings
log=build/fuzz/build.log
logged() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
logged cmake --preset fuzz -DCMAKE_CXX_COMPILER="$clang"
for target in "${targets[@]}"; do
  if among "$target" "${compiled[@]}"; then
    logged cmake --build --preset fuzz --target "fuzz_$target"
  elif among "$target" "${python[@]}"; then
    [ -x build/fuzz/python/bin/python ] || python3 -m venv build/fuzz/python
    build/fuzz/python/bin/python -c "import atheris" 2>/dev/null || build/fuzz/python/bin/pip install -q atheris
  else
    echo "tools/fuzz.sh: $target: unknown; expected some of: ${compiled[*]} ${python[*]}" >&2
    exit 2
  fi
done

# Inputs are written as files, thousands a second: into memory where there is such a folder.
files=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")" transformer-fuzz.XXXXXX)
trap 'rm -rf "$files"' EXIT
status=0
for target in "${targets[@]}"; do
  program=("build/fuzz/tests/fuzz/fuzz_$target")
  among "$target" "${python[@]}" && program=(build/fuzz/python/bin/python tests/fuzz/fuzzer.py "$target")
  log=build/fuzz/findings/$target.log
  mkdir -p "build/fuzz/corpora/$target"
  found=0
  # libFuzzer ends by itself; the outer limit is for a reader that cannot even be interrupted.
  TMPDIR=$files timeout -k 10 $((seconds + 120)) nice -n 19 "${program[@]}" \
    "build/fuzz/corpora/$target" "tests/fuzz/seeds/$target" -max_total_time="$seconds" -timeout=300 \
    -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 -print_funcs=0 -verbosity=0 -detect_leaks=0 \
    -artifact_prefix="build/fuzz/findings/$target-" </dev/null >"$log" 2>&1 || found=1
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
  kept=$(find "build/fuzz/corpora/$target" -type f | wc -l)
  echo "$target: ${executions:-0} executions in $seconds s, $kept inputs kept, $found findings"
  if [ "$found" != 0 ]; then
    status=1
    grep -m 3 -E "^(==.*ERROR|SUMMARY|.*runtime error|terminate|.*what\(\)|artifact_prefix|Test unit written| *=== Uncaught)" "$log" >&2 || tail -3 "$log" >&2
  fi
done
exit $status
