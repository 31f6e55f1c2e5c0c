#!/usr/bin/env bash
# The main job from nothing: installs what is missing, builds, profiles a network, schedules it, runs
# the schedules under mpirun and prints them side by side.
#   ./demo.sh [--model inception_v3|nasnet_large|squeezenet|randwire_large] [--rounds N] …
set -euo pipefail
cd "$(dirname "$0")"

scripts/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target hios-profile hios-schedule hios-run
python3 scripts/compare --programs build/release/bin --output build/demo "$@"
