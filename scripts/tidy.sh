#!/usr/bin/env bash
# Checks formatting and runs clang-tidy (Debian: clang-format and
# clang-tidy 14). scripts/tidy.sh [FILE…]
set -euo pipefail
cd "$(dirname "$0")/.."

files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files '*.cpp' '*.h' ':!tests')
clang-format --dry-run --Werror "${files[@]}"
sources=()
for file in "${files[@]}"; do
  [[ $file == *.cpp && $file != python/* ]] && sources+=("$file")  # the preset has no Python module
done
[ ${#sources[@]} -gt 0 ] || exit 0
# A configuration of its own: clang cannot read GCC's precompiled headers.
cmake --preset release -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
clang-tidy --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option "${sources[@]}"
