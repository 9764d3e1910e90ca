#!/usr/bin/env bash
# Table 3 from nothing: sets up, builds, trains the 20 rows of configs/table3-mini.json on a generated
# language pair (some minutes on two cores), prints the table and says where the results lie. Run again,
# it does only what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh
tools/build.sh release
readonly program=build/release/transformer

# train.en is written last: where it is missing, the rest is of a generation that was cut short.
[ -e data/mini/train.en ] ||
  "$program" data generate --out data/mini --words 80 --longest 12 --valid 500 --test 500 --force
"$program" sweep configs/table3-mini.json --out runs/table3-mini "$@"
