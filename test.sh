#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test: optimised, then under the address and
# undefined-behaviour sanitizers; then the package (tests/package/check.sh). With a CUDA compiler, also
# the programs of preset cuda and those tests of the CUDA backend that need no GPU.
# ./test.sh PRESET… runs those presets instead; the package is part of release.
# The tests that need a GPU are never part of it: ctest --test-dir build/cuda -L gpu.
set -euo pipefail
cd "$(dirname "$0")"

scripts/setup.sh --package --slurm

presets=("$@")
cuda_only=no
if [ ${#presets[@]} -eq 0 ]; then
  presets=(release asan)
  if command -v nvcc >/dev/null; then cuda_only=yes; fi
fi

for preset in "${presets[@]}"; do
  printf '\n== %s: build ==\n' "$preset"
  cmake --preset "$preset" -DHIOS_WERROR=ON
  cmake --build --preset "$preset"
done
if [ "$cuda_only" = yes ]; then
  printf '\n== cuda: build ==\n'
  # In a tree of its own: nothing is timed here and no GPU runs the kernels, so there are few optimisations, and no
  # code for GPUs after the H100.
  cmake --preset cuda -B build/cuda-test -DHIOS_WERROR=ON -DHIOS_UNITY=ALL "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real"
  cmake --build build/cuda-test --target hios-profile hios-schedule hios-run hios_cuda_tests hios_gpu_tests hios_gpu_rank_tests
  printf '\n== cuda: tests that need no GPU ==\n'
  ctest --test-dir build/cuda-test --output-on-failure -L '^cuda$'
elif [ $# -eq 0 ]; then
  printf '\n== cuda: skipped, no nvcc in PATH ==\n'
fi
for preset in "${presets[@]}"; do
  printf '\n== %s: tests ==\n' "$preset"
  ctest --preset "$preset" -j "$(nproc)"
done
if [[ " ${presets[*]} " = *' release '* ]]; then
  printf '\n== package ==\n'
  tests/package/check.sh build/release
fi
