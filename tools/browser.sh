#!/usr/bin/env bash
# The live page and the report in a headless Chromium: installs it, and what drives it, where they are
# missing; then runs tests/browser on the release build. TRANSFORMER_SCREENSHOTS=FOLDER keeps pictures.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
ls /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome >/dev/null 2>&1 || missing+=(chromium fonts-dejavu-core)
command -v npm >/dev/null || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=$([ "$(id -u)" -eq 0 ] || echo sudo)
  $as_root apt-get update -qq >/dev/null
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
if [ ! -e build/browser/node_modules/playwright-core ]; then
  mkdir -p build/browser
  cp tests/browser/package.json tests/browser/package-lock.json build/browser/
  (cd build/browser && npm ci --ignore-scripts --no-audit --no-fund --silent)
fi
node --test-reporter=spec tests/browser/browser_test.mjs
