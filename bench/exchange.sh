#!/usr/bin/env bash
# Has the onnx package and ONNX Runtime read what `hios export` writes, and compares schedules that IOS published with ours.
# Installs both packages into build/exchange first.
#   bench/exchange.sh [--network NAME …] [--ios FILE.json …]; see --help
set -euo pipefail
exec python3 -B "$(dirname "$0")/exchange/exchange.py" "$@"
