#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test: optimised, then under the address and
# undefined-behaviour sanitizers; then the package (tests/package/check.sh). With a CUDA compiler, release
# also builds the CUDA backend with its tests, and runs those that need no GPU.
# ./test.sh PRESET… runs those presets instead; the package is part of release.
# The tests that need a GPU are never part of it: ctest --test-dir build/cuda -L gpu.
set -euo pipefail
cd "$(dirname "$0")"

scripts/setup.sh --package --slurm

presets=("$@")
if [ ${#presets[@]} -eq 0 ]; then presets=(release asan); fi
cuda=()
if [[ " ${presets[*]} " != *' release '* ]]; then
  :  # only release has these tests
elif command -v nvcc >/dev/null; then
  # No GPU runs the kernels here: no code for GPUs after the H100.
  cuda=(-DHIOS_CUDA_TESTS=ON "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real")
else
  cuda=(-DHIOS_CUDA_TESTS=OFF)
  printf '\n== the CUDA backend and its tests are left out: no nvcc in PATH ==\n'
fi

for preset in "${presets[@]}"; do
  printf '\n== %s: build ==\n' "$preset"
  flags=(-DHIOS_WERROR=ON)
  if [ "$preset" = release ]; then flags+=("${cuda[@]}"); fi
  cmake --preset "$preset" "${flags[@]}"
  cmake --build --preset "$preset"
done
for preset in "${presets[@]}"; do
  printf '\n== %s: tests ==\n' "$preset"
  # Two more than there are cores: many tests wait for processes that end.
  ctest --preset "$preset" -j "$(($(nproc) + 2))"
done
if [[ " ${presets[*]} " = *' release '* ]]; then
  printf '\n== package ==\n'
  tests/package/check.sh build/release
fi
