#!/usr/bin/env bash
# ONNX Runtime and OpenVINO beside us: the same ONNX file, the same cores, in turns. Builds the programs and installs both
# peers into build/ first.
#   bench/peers.sh [NETWORK|FILE.onnx…]; --help explains
set -euo pipefail
exec python3 -B "$(dirname "$0")/peers/peers.py" "$@"
