#!/usr/bin/env bash
# The Python module as its users get it: builds the wheel of ./python, installs it in a fresh virtual environment, and runs the
# tests of this folder there, next to the programs of a build. Status 77: packages of Python that it needs cannot be fetched.
#   tests/wheel/check.sh BUILD_FOLDER
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=/usr/bin/python3  # Debian's, whose headers scripts/setup.sh --python installs
if [ ! -x "$python" ]; then python=python3; fi

fail() { printf 'wheel: %s\n' "$*" >&2; exit 1; }
# quietly NAME COMMAND…: shows the output only where the command fails.
quietly() {
  local name=$1; shift
  printf 'wheel: %4d s: %s\n' "$SECONDS" "$name"
  "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log" >&2; fail "$name failed"; }
}

# Always in the same place, so that a second build compiles what has changed.
place=$source_folder/build/wheel
mkdir -p "$place"
rm -rf "$place/venv"
quietly "a fresh environment" "$python" -m venv "$place/venv"
pip=("$place/venv/bin/python" -m pip --disable-pip-version-check --quiet)
# The packages of [build-system] and of all extras in python/pyproject.toml; mypy checks types.
"$place/venv/bin/python" - "$source_folder/python/pyproject.toml" >"$work/needed" <<'PYTHON'
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    content = tomllib.load(file)
extras = content["project"]["optional-dependencies"]
print("\n".join([*content["build-system"]["requires"], *(name for extra in extras.values() for name in extra), "mypy"]))
PYTHON
printf 'wheel: %4d s: packages\n' "$SECONDS"
if ! "${pip[@]}" install --timeout 30 --retries 2 --requirement "$work/needed" \
    --constraint "$source_folder/tests/wheel/constraints.txt" >"$work/log" 2>&1; then
  tail -n 3 "$work/log" >&2
  if grep -qi 'conflict' "$work/log"; then exit 1; fi  # of constraints.txt with python/pyproject.toml
  exit 77
fi
# The sources are built once more, since code of a program cannot be in a module.
# Without full optimisation, which takes half of the time and changes no result.
quietly "the wheel" "${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir "$work/wheels" \
  --config-settings=build-dir="$place/cmake" --config-settings=cmake.define.HIOS_WERROR=ON \
  --config-settings=cmake.define.HIOS_QUICK=ON "$source_folder/python"
wheels=("$work"/wheels/hios-*.whl)
quietly "its installation" "${pip[@]}" install --no-deps "${wheels[0]}"
cd "$work"  # the sources are not found from here
export HIOS_PROGRAMS=$build/bin MPLCONFIGDIR=$work
for test in "$source_folder"/tests/wheel/*_test.py; do
  quietly "$(basename "$test" .py)" "$place/venv/bin/python" -B "$test"
done
printf 'wheel: %4d s: all is well\n' "$SECONDS"
