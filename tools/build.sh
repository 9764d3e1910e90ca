#!/usr/bin/env bash
# tools/build.sh [PRESET]: configures and builds a preset (release unless named) after tools/setup.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}

log=build/$preset-configure.log
mkdir -p build
if ! cmake --preset "$preset" -DTRANSFORMER_WERROR="${TRANSFORMER_WERROR:-OFF}" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
cmake --build --preset "$preset" >&2
