#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: optimised, then under the address and
# undefined-behaviour sanitizers. ./test.sh PRESET… runs those presets instead.
set -euo pipefail
cd "$(dirname "$0")"

scripts/setup.sh

presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release asan)

for preset in "${presets[@]}"; do
  printf '\n== %s: build ==\n' "$preset"
  cmake --preset "$preset" -DHIOS_WERROR=ON
  cmake --build --preset "$preset"
done
for preset in "${presets[@]}"; do
  printf '\n== %s: tests ==\n' "$preset"
  ctest --preset "$preset" -j "$(nproc)"
done
