#!/usr/bin/env bash
# hios bench from scratch: installs missing packages, builds the three programs, and measures for at most three minutes.
# All arguments are passed on; without a model it is inception_v3.
#   ./demo.sh [MODEL|FILE.onnx] [--budget SECONDS] [--throughput] …
set -euo pipefail
root=$(cd "$(dirname "$0")" && pwd)

for word in "$@"; do
  case $word in
    -h | --help) PYTHONPATH=$root/python exec python3 -B -m hios bench "$@" ;;  # before anything is installed or built
  esac
done

(
  cd "$root"
  scripts/setup.sh
  if [ ! -f build/release/build.ninja ]; then  # a tree that is there keeps its options
    # No tests, and full optimisation only in the loops that count. `cmake --preset release` undoes both.
    cmake --preset quick >/dev/null
  fi
  cmake --build build/release --target hios-profile hios-schedule hios-run
)
exec "$root/build/release/bin/hios" bench --default-model inception_v3 --budget 180 --output "$root/build/demo" "$@"
