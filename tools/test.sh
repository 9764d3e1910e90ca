#!/usr/bin/env bash
# Sets up, builds and runs every test. tools/test.sh [PRESET] [ctest options...], such as
#   tools/test.sh release -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=release
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
  preset=$1
  shift
fi

tools/setup.sh
tools/build.sh "$preset"
ctest --preset "$preset" -j "$(nproc)" "$@"
