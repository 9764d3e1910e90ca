#!/usr/bin/env bash
# The long versions of the tests behind docs/reliability.md: 100 kills of a run, 40 of a sweep, thousands of
# flipped bits. Builds first. tools/faults.sh [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
export TRANSFORMER_FAULTS=long TRANSFORMER_FAULTS_SEED=${1:-1} OMP_NUM_THREADS=1
build/release/tests/transformer_tests "[faults]"
python3 -m unittest discover -v -s tests/faults -p "*_test.py"
