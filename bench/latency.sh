#!/usr/bin/env bash
# hios bench for every network, in turn with oneDNN in a bare loop. A network whose
# one-core row varied by more than 3 % between rounds is measured again, up to three times. Writes bench/results/latency-PROCESSOR.md and .json.
#   bench/latency.sh [NETWORK…]
set -euo pipefail
cd "$(dirname "$0")/.."

for word in "$@"; do
  case $word in -*) exec python3 -B bench/latency.py "$@" ;; esac  # no build for --help or a misspelt flag
done

scripts/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target hios-profile hios-schedule hios-run raw_onednn
exec python3 bench/latency.py "$@"
