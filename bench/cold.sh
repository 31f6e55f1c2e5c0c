#!/usr/bin/env bash
# Plans and runs cold starts of four networks, from memory and from a disk, on one and two cores and on two ranks.
#   bench/cold.sh [--network NAME …] [--store memory|disk …] [--rounds N]; see --help
set -euo pipefail
exec python3 -B "$(dirname "$0")/cold/cold.py" "$@"
