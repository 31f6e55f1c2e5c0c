#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test: optimised, then under the address and
# undefined-behaviour sanitizers; then the package (tests/package/check.sh) and the Python module
# (tests/wheel/check.sh). With a CUDA compiler, release also builds the CUDA backend with its tests, and
# runs those that need no GPU.
# ./test.sh PRESET… runs those presets instead; the package and the module are part of release.
# The tests that need a GPU are never part of it: ctest --test-dir build/cuda -L gpu.
# A failure hides no other: all that can run does, and the last line names what failed and what was not run.
set -euo pipefail
cd "$(dirname "$0")"

presets=("$@")
if [ ${#presets[@]} -eq 0 ]; then presets=(release asan); fi
failed=() not_run=() built=() complete=

join() { local all; all=$(printf '%s; ' "$@"); printf '%s' "${all%; }"; }
# Prints the last line, also where the script ends early.
finish() {
  local status=$? line='all tests passed'
  trap - EXIT
  if [ -z "$complete" ]; then
    if [ "$status" -ne 0 ]; then status="status $status"; else status='a signal'; fi
    failed+=("test.sh itself, by $status, $step") not_run+=("what follows")
  fi
  if [ ${#failed[@]} -gt 0 ]; then line="FAILED: $(join "${failed[@]}")" status=1; fi
  if [ ${#not_run[@]} -gt 0 ]; then line+=" | not run: $(join "${not_run[@]}")"; fi
  rm -f "$log"
  printf '\n%s\n' "$line"
  exit "$status"
}
log=$(mktemp)
trap finish EXIT

# listed HEADING: prints the tests that ctest lists below this heading at its end, at most 20 of them.
listed() {
  awk -v heading="$1" '
    /tests passed, .* failed out of/ { at_end = 1; count = 0; names = "" }  # the last one counts
    /^The following tests/ { listed = at_end && index($0, heading) }
    listed && sub(/^[[:space:]]+[0-9]+ - /, "") {
      sub(/ \([^()]*\)[^()]*$/, "")
      if (++count <= 20) names = names (count > 1 ? ", " : "") $0
    }
    END { print names (count > 20 ? " and " count - 20 " more" : "") }' "$log"
}

# A tree that is there keeps its joined sources; a new one joins most (HIOS_UNITY in cmake/HiosTargets.cmake).
joined() {  # PRESET
  local kept
  kept=$(sed -n 's/^HIOS_UNITY:[A-Z]*=//p' "build/$1/CMakeCache.txt" 2>/dev/null || true)
  echo "${kept:-ALL}"
}

build() {  # PRESET
  local flags=(-DHIOS_WERROR=ON)
  if [ "$1" != minimal ]; then flags+=("-DHIOS_UNITY=$(joined "$1")"); fi  # which shows that each source stands alone
  if [ "$1" = release ]; then flags+=("${cuda[@]}"); fi
  cmake --preset "$1" "${flags[@]}" && cmake --build --preset "$1"
}

run_tests() {  # PRESET
  local names
  # Two more than there are cores: many tests wait for processes that end.
  if ! ctest --preset "$1" --no-tests=error -j "$(($(nproc) + 2))" 2>&1 | tee "$log"; then
    names=$(listed FAILED)
    failed+=("$1: ${names:-ctest}")
  fi
  names=$(listed 'did not run')
  if [ -n "$names" ]; then not_run+=("$1: $names"); fi
}

step='while packages are installed'
scripts/setup.sh --package --slurm --browser --python

step='while it builds'
cuda=(-DHIOS_CUDA_TESTS=OFF)
if command -v nvcc >/dev/null; then
  # No GPU runs the kernels here: no code for GPUs after the H100.
  cuda=(-DHIOS_CUDA_TESTS=ON "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real")
elif [[ " ${presets[*]} " = *' release '* ]]; then  # only release has these tests
  not_run+=('the CUDA backend and its tests (no nvcc in PATH)')
fi
for preset in "${presets[@]}"; do
  printf '\n== %s: build ==\n' "$preset"
  if build "$preset"; then built+=("$preset"); else failed+=("$preset: build") not_run+=("$preset: tests"); fi
done

step='while it tests'
for preset in ${built[@]+"${built[@]}"}; do
  printf '\n== %s: tests ==\n' "$preset"
  run_tests "$preset"
done
if [[ " ${built[*]-} " = *' release '* ]]; then
  printf '\n== package ==\n'
  tests/package/check.sh build/release || failed+=('package')
  printf '\n== Python module ==\n'
  status=0
  tests/wheel/check.sh build/release || status=$?
  if [ "$status" -eq 77 ]; then
    not_run+=('the Python module (its packages cannot be fetched)')
  elif [ "$status" -ne 0 ]; then
    failed+=('Python module')
  fi
elif [[ " ${presets[*]} " = *' release '* ]]; then
  not_run+=('package' 'Python module')
fi
complete=yes
