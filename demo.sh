#!/usr/bin/env bash
# The main job from scratch: installs missing packages, builds, profiles a network, schedules it, runs
# the schedules under mpirun and prints a table.
#   ./demo.sh [--model inception_v3|nasnet_large|squeezenet|randwire_large] [--rounds N] …
# With --throughput as the first argument: many inferences in flight, compared with copies of the network.
#   ./demo.sh --throughput [--model …] [--rounds N] …
set -euo pipefail
cd "$(dirname "$0")"

scripts/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target hios-profile hios-schedule hios-run
build/release/bin/hios bench --output build/demo "$@"
