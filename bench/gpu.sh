#!/usr/bin/env bash
# Tests and measurements on one GPU: the GPU tests, latencies compared with PyTorch, transfers compared with raw copies.
# Runs from a tree of scripts/pack-gpu.sh on a machine with CUDA 13, cuDNN 9 and Python 3, or from a checkout in which
# preset cuda was built; see bench/gpu.sh --help. Uses the Python that has PyTorch; HIOS_PYTHON names another.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# has PYTHON [MODULE]: true if it starts, is new enough, and finds the module.
has() {
  "$1" - "${@:2}" >/dev/null 2>&1 <<'PYTHON'
import importlib.util, sys
sys.exit(sys.version_info < (3, 11) or not all(map(importlib.util.find_spec, sys.argv[1:])))
PYTHON
}

python=
candidates=(python3 python /usr/bin/python3 /usr/local/bin/python3 /opt/*/bin/python3 /opt/*/.venv/bin/python3)
[ -z "${HIOS_PYTHON:-}" ] || candidates=("$HIOS_PYTHON")
for candidate in "${candidates[@]}"; do
  if has "$candidate" torch; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
  for candidate in "${candidates[@]}"; do
    if has "$candidate"; then python=$candidate; break; fi
  done
fi
if [ -z "$python" ]; then
  printf 'bench/gpu.sh: there is no Python 3.11 or newer among: %s; name one with HIOS_PYTHON\n' "${candidates[*]}" >&2
  exit 2
fi
exec "$python" -B "$here/gpu/main.py" "$@"
