#!/usr/bin/env bash
# Installs the missing packages that HIOS needs on Debian 12 for building, testing and running; HiGHS,
# which Debian does not have, by scripts/get-highs.sh. Options add packages:
#   --bench          plots of the studies
#   --fuzz           the clang of preset fuzz
#   --package        tools of the tests of the package: cpack's, and pkg-config
#   --python         Python's headers and virtual environments, for the Python module and its test
#   --slurm          the Slurm that the tests of slurm/ start
#   --browser        the browser that tests the page of hios report
#   --worlds         tools by which bench/worlds.sh fetches other MPIs
#   --onnx-networks  torchvision, for bench/peers.sh, and virtual environments, for bench/onnx_networks
#   --peers          tools by which bench/peers.sh installs other runtimes
#   --openmpi-cuda   tools of scripts/build-openmpi-cuda.sh and scripts/pack-gpu.sh
set -euo pipefail

packages=(
  g++ cmake ninja-build git ca-certificates
  libopenmpi-dev openmpi-bin
  libdnnl-dev ocl-icd-opencl-dev  # oneDNN's CMake file asks for OpenCL, its package only recommends it
  libboost-program-options-dev
  nlohmann-json3-dev
  libonnx-dev libprotobuf-dev     # the message classes of ONNX files
  protobuf-compiler               # makes them where no package has them: a test
  libhwloc-dev                    # finds what a machine has
  coinor-libcbc-dev               # a solver of linear programs; scripts/get-highs.sh fetches another
  libgtest-dev libgmock-dev libonnx-testdata
  python3 python3-pip
  python3-jinja2 python3-pil      # the page of the command hios, and its pictures
  iproute2 util-linux             # hosts of tests/network
)

for argument in "$@"; do
  case "$argument" in
    --bench) packages+=(python3-matplotlib) ;;
    --fuzz) packages+=(clang-16 libclang-rt-16-dev llvm) ;;  # llvm: symbol names in sanitizer reports
    --package) packages+=(dpkg-dev file pkgconf) ;;
    --python) packages+=(python3-dev python3-venv) ;;
    --browser) packages+=(chromium chromium-driver python3-selenium fonts-dejavu-core) ;;
    --worlds) packages+=(python3-venv debootstrap) ;;
    --onnx-networks) packages+=(python3-venv python3-torchvision) ;;
    --peers) packages+=(python3-venv) ;;
    --slurm) packages+=(slurmctld slurmd slurm-client) ;;
    --openmpi-cuda) packages+=(gcc make perl xz-utils zstd binutils chrpath) ;;
    *) printf 'usage: %s [--bench] [--fuzz] [--package] [--python] [--slurm] [--browser] [--worlds] [--onnx-networks] [--peers] [--openmpi-cuda]\n' "$0" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  exec "$(dirname "$0")/get-highs.sh"
fi

printf 'missing packages: %s\n' "${missing[*]}" >&2
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  printf 'installing them needs root; please type:\n  sudo apt-get update && sudo %s\n' "${install[*]}" >&2
  exit 1
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" >/dev/null
printf 'installed: %s\n' "${missing[*]}" >&2
"$(dirname "$0")/get-highs.sh"
