#!/usr/bin/env bash
# Makes a tree that runs on a machine with only a GPU, CUDA 13, cuDNN 9 and Python 3: no MPI, Boost, GoogleTest or
# network. Builds the programs and their GPU tests with the cuda backend against an Open MPI of its own
# (scripts/build-openmpi-cuda.sh), copies them with the libraries that such a machine lacks, and checks that no
# library is missing and that the tree is small enough to be transferred.
#   scripts/pack-gpu.sh [--output FILE.tar.gz|FILE.tar.zst] [--tree DIR] [--openmpi DIR] [--architectures LIST] [--jobs N]
#   --output FILE         the packed tree (default: build/hios-gpu.tar.gz)
#   --tree DIR            the tree itself, which is kept (default: build/hios-gpu); an existing one is replaced
#   --openmpi DIR         the Open MPI's folder (default: build/openmpi-cuda); built if it is missing
#   --architectures LIST  of GPUs, as CMake names them (default: "90-real;90-virtual": native code for H100 and H200;
#                         the driver translates it for later GPUs)
#   --jobs N              concurrent compilers (default: all cores)
# Then, on the other machine: tar -xf FILE && hios-gpu/bench/gpu.sh
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'pack-gpu: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }
usage() { sed -n 's/^# *\(scripts\/pack-gpu.sh\)/usage: \1/p' "$0" >&2; exit 2; }

output=build/hios-gpu.tar.gz
tree=build/hios-gpu
openmpi=build/openmpi-cuda
architectures='90-real;90-virtual'
jobs=$(nproc)
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case "$1" in
    --output) output=$2 ;;
    --tree) tree=$2 ;;
    --openmpi) openmpi=$2 ;;
    --architectures) architectures=$2 ;;
    --jobs) jobs=$2 ;;
    *) usage ;;
  esac
  shift 2
done
case "$output" in
  *.tar.gz) compress=(gzip -9n) ;;
  *.tar.zst) compress=(zstd -q -19 -T0 -c) ;;
  *) fail "--output $output: the name must end in .tar.gz or .tar.zst" ;;
esac
output=$(realpath -m "$output")
tree=$(realpath -m "$tree")
openmpi=$(realpath -m "$openmpi")
if [ -e "$tree" ] && [ ! -f "$tree/manifest.json" ]; then
  fail "$tree exists and is no packed tree: name another --tree"
fi

nvcc=$(command -v nvcc || true)
[ -n "$nvcc" ] || fail "there is no nvcc in PATH: the pack needs CUDA 13 and cuDNN 9 to build with"
toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")

scripts/setup.sh --openmpi-cuda
scripts/build-openmpi-cuda.sh --prefix "$openmpi" --jobs "$jobs"

# Programs find their libraries in ../lib, in the build as in the tree.
build=build/pack-gpu
say "building in $build for $architectures"
mkdir -p "$build"
ln -sfn "$openmpi/lib" "$build/lib"
export LD_LIBRARY_PATH="$toolkit/lib64:$toolkit/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"  # the build runs the tests to list their cases
log=$build/pack.log
launchers=()
if command -v ccache >/dev/null; then
  launchers=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
fi
cmake --preset cuda -B "$build" -DHIOS_WERROR=ON -DHIOS_CPU=OFF -DHIOS_TESTS=ON \
  -DCMAKE_CUDA_ARCHITECTURES="$architectures" \
  -DMPI_C_COMPILER="$openmpi/bin/mpicc" -DMPIEXEC_EXECUTABLE="$openmpi/bin/mpirun" \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH='$ORIGIN/../lib' \
  "${launchers[@]}" >"$log" || { tail -n 20 "$log" >&2; fail "configuring failed; the whole log is $log"; }
mapfile -t tests < <(cmake --build "$build" --target help | sed -n 's/^\(hios_\(cuda\|gpu\)[a-z_]*tests\):.*/\1/p' | sort -u)
[ ${#tests[@]} -gt 0 ] || fail "$build knows no test programs called hios_cuda*tests or hios_gpu*tests"
programs=(hios-profile hios-schedule hios-run)
cmake --build "$build" -j "$jobs" --target "${programs[@]}" "${tests[@]}" >>"$log" ||
  { tail -n 30 "$log" >&2; fail "building failed; the whole log is $log"; }

say "collecting ${programs[*]} ${tests[*]}"
rm -rf "$tree"
python3 -B scripts/pack_tree.py --build "$build" --openmpi "$openmpi" --tree "$tree" --architectures "$architectures" \
  "${programs[@]}" "${tests[@]}"

mkdir -p "$(dirname "$output")"
tar -C "$(dirname "$tree")" --sort=name --owner=0 --group=0 --numeric-owner -c "$(basename "$tree")" |
  "${compress[@]}" >"$output.part"
mv "$output.part" "$output"

limit=60000000  # bytes; the pack must be transferred
unpacked=$(du -sb "$tree" | cut -f1)
packed=$(stat -c %s "$output")
say "$output: $((packed / 1000000)) MB; unpacked, $tree: $((unpacked / 1000000)) MB"
if [ "$unpacked" -ge "$limit" ] || [ "$packed" -ge "$limit" ]; then
  fail "larger than $((limit / 1000000)) MB: build for fewer --architectures"
fi
