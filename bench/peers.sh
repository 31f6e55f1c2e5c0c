#!/usr/bin/env bash
# Compares HIOS with ONNX Runtime and OpenVINO: the same ONNX file, the same cores, in turn. Builds the programs and installs
# both peers into build/ first.
#   bench/peers.sh [NETWORK|FILE.onnx…]; see --help
set -euo pipefail
exec python3 -B "$(dirname "$0")/peers/peers.py" "$@"
