#!/usr/bin/env bash
# Installs what the build needs and is missing, and finds or installs LibTorch. Quick when nothing is left
# to do. Prints what it does to stderr; changes nothing outside the distribution's packages and .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TORCH_VERSION=2.13.0
readonly PACKAGES=(g++ cmake ninja-build ccache git python3 libsentencepiece-dev libcxxopts-dev
  nlohmann-json3-dev libxxhash-dev libgloo-dev libcpp-httplib-dev pkg-config catch2)

say() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "needs root to run: $*"
    say "run that line as root, then this script again"
    exit 1
  fi
}

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

install_packages() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  say "installing" $missing
  as_root apt-get update -qq >/dev/null
  # shellcheck disable=SC2086  # one word a package
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

check_tools_without_apt() {
  local tool missing=()
  for tool in cmake ninja git python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  command -v g++ >/dev/null || command -v clang++ >/dev/null || missing+=("a C++20 compiler")
  if [ ${#missing[@]} -gt 0 ]; then
    say "this system has no apt-get; install these by its own package manager: ${missing[*]}"
    say "CMake then fetches SentencePiece, cxxopts, nlohmann/json, xxHash and Catch2 by itself"
    exit 1
  fi
  say "no apt-get here: CMake fetches the libraries that it does not find"
}

# Said here in a line, rather than by CMake once all else is installed.
check_cmake() {
  local needed found
  needed=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  found=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -n 1)" != "$needed" ] || return 0
  say "needs CMake $needed or newer (Debian 12 and Ubuntu 24.04 have it); $(command -v cmake) is ${found:-unknown}"
  exit 1
}

# Whole: pip writes RECORD last.
python_has_torch() {
  "$1" -c "
import importlib.metadata as m, sys
torch = m.distribution('torch')
version = tuple(int(x) for x in torch.version.split('+')[0].split('.')[:2])
sys.exit(version < (2, 13) or not torch.read_text('RECORD'))" 2>/dev/null
}

find_torch() {
  [ -z "${Torch_DIR:-}${LIBTORCH:-}" ] || return 0
  ! python_has_torch python3 || return 0
  ! python_has_torch .venv/bin/python || return 0
  return 1
}

# Without an NVIDIA GPU the CPU build, where pip's indexes have it: it is a tenth of the size. Either works.
install_torch() {
  local pip=(.venv/bin/python -m pip install -q --disable-pip-version-check)
  if [ ! -e /proc/driver/nvidia/version ] &&
    "${pip[@]}" "torch==$TORCH_VERSION+cpu" >/dev/null 2>&1; then
    return 0
  fi
  say "this takes a while: pip's indexes may have the CUDA build alone, some 3 GB with all it needs;" \
    "PIP_EXTRA_INDEX_URL=<PyTorch's index of CPU builds> before the command makes it 200 MB"
  "${pip[@]}" "torch==$TORCH_VERSION" >&2
}

if command -v apt-get >/dev/null; then
  install_packages "${PACKAGES[@]}"
else
  check_tools_without_apt
fi
check_cmake

if ! find_torch; then
  if ! python3 -c 'import ensurepip' 2>/dev/null && command -v apt-get >/dev/null; then
    install_packages python3-venv
  fi
  say "no LibTorch found; installing torch==$TORCH_VERSION into .venv"
  .venv/bin/python -m pip --version >/dev/null 2>&1 || python3 -m venv --clear .venv
  install_torch
fi
