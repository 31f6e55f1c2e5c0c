#!/usr/bin/env bash
# The tests in other environments (worlds) than that of ./test.sh: bench/worlds.sh [WORLD…], by default all of
#   openmpi5  Open MPI 5, its own mpirun (PRRTE)     no-cma    Open MPI 4 without single copies between ranks
#   mpich     MPICH, its own mpiexec (Hydra)         one-core  every test on one core of the machine
#   onednn3   oneDNN 3, named by dnnl_DIR            tsan      ranks that are threads, under the thread sanitizer
#   emulated  networks, programs on emulated GPUs    emulated-asan  those under the address sanitizer
#   bookworm  Debian 12 with its own packages alone  trixie    Debian 13: GCC 14, Open MPI 5, oneDNN 3
# Each is built in build/world-NAME and gives a line of the table. The libraries of the first three come from PyPI into
# build/world-packages (scripts/setup.sh --worlds installs the tools for that). The last two are the commit HEAD in chroots that
# debootstrap makes from Debian's archive, as root; the last four are asked for by name. HIOS_CMAKE adds arguments for cmake.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

# All targets that run under a real MPI. CTest lists their tests whether they are built or not.
targets='hios-profile hios-schedule hios-run hios_program_tests
  hios_mpi_tests hios_mpi_rank_tests hios_message_limit_tests
  hios_engine_tests hios_network_tests hios_steady_memory_tests hios_schedule_rank_tests'
rows=()
failed=no

# package NAME REQUIREMENT: installs a package and prints its folder.
package() {
  local folder=$root/build/world-packages/$1
  [ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder" >&2 || return
  "$folder/bin/pip" install --quiet "$2" >&2 || return
  printf '%s' "$folder"
}

# build NAME PRESET TARGETS [CMAKE ARGUMENTS…]
build() {
  local folder=build/world-$1
  # shellcheck disable=SC2086
  cmake --preset "$2" -B "$folder" -DHIOS_WERROR=ON -DHIOS_BENCH=OFF ${HIOS_CMAKE:-} "${@:4}" >"$folder.log" 2>&1 || return
  # shellcheck disable=SC2086
  cmake --build "$folder" --target $3 >>"$folder.log" 2>&1
}

# tests NAME [PREFIX COMMAND…]: runs the tests that were built, one after the other; adds a row.
tests() {
  local folder=build/world-$1 started=$SECONDS result
  local without='_NOT_BUILT|^(bench|slurm|network)'
  # This world does not build the programs, because all its ranks are threads.
  if [ "$1" = tsan ]; then without+='|[.]ranks_[0-9]'; fi
  # oneDNN 3.2 crashes when it destroys a descriptor whose creation was refused memory.
  if [ "$1" = onednn3 ]; then without+='|^OutOfMemory[.]EndsARun'; fi
  local only=()
  if [[ $1 = emulated* ]]; then only=(-L cuda-emulated); fi
  "${@:2}" ctest --test-dir "$folder" "${only[@]}" --timeout 1200 -E "$without" >>"$folder.log" 2>&1 || failed=yes
  result=$(grep -a 'tests passed' "$folder.log" | tail -1)
  rows+=("$(printf '%-13s  %s  %s s' "$1" "${result:-did not run: see $folder.log}" "$((SECONDS - started))")")
}

# debian SUITE: makes a chroot where there is none, and in it the commit HEAD: installs, builds and tests.
debian() {
  local root=build/world-$1 log=build/world-$1.log started=$SECONDS result
  : >"$log"
  if [ ! -e "$root/etc/debian_version" ]; then
    debootstrap --variant=minbase "$1" "$root" >>"$log" 2>&1 || return
  fi
  # Without a file of hosts, ranks would ask the network for the machine's own name, and some would wait for seconds.
  printf '127.0.0.1 localhost %s\n' "$(hostname)" >"$root/etc/hosts" || return
  # Certificates that this machine trusts next to Debian's, such as a proxy's: scripts/setup.sh fetches HiGHS.
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share/" || return
  # A clone that is there keeps its build, of which only what changed is made again.
  [ -d "$root/hios" ] || git clone --quiet --no-hardlinks . "$root/hios" || return
  git -C "$root/hios" fetch --quiet "$PWD" HEAD && git -C "$root/hios" checkout --quiet --force --detach FETCH_HEAD || return
  local commands="cd /hios && scripts/setup.sh && cmake --preset release -DHIOS_WERROR=ON -DHIOS_BENCH=OFF ${HIOS_CMAKE:-} &&
    cmake --build --preset release && ctest --preset release -j$(nproc) --timeout 1200 -E '^(bench|slurm|network)'"
  # A namespace of its own, so that nothing stays mounted. Its root is a mount, as tests with namespaces of their own need it.
  (cd "$root" && unshare --mount --pid --fork --kill-child sh -ec '
    mount --bind . .; cd "$(pwd -P)"; mount -t proc proc proc; mount --rbind /sys sys; mount --rbind /dev dev; mount -t tmpfs tmpfs tmp
    exec chroot . /bin/sh -c "$0"' "$commands") \
    >>"$log" 2>&1 </dev/null || failed=yes
  result=$(grep -a 'tests passed' "$log" | tail -1)
  rows+=("$(printf '%-13s  %s  %s s' "$1" "${result:-did not run: see $log}" "$((SECONDS - started))")")
}

world() {
  local where preset
  case "$1" in
    openmpi5)
      where=$(package openmpi5 'openmpi==5.*') &&
        build "$1" release "$targets" -DMPI_C_COMPILER="$where/bin/mpicc" -DMPIEXEC_EXECUTABLE="$where/bin/mpirun" &&
        tests "$1" ;;
    mpich)
      where=$(package mpich 'mpich==5.*') &&
        build "$1" release "$targets" -DMPI_C_COMPILER="$where/bin/mpicc" -DMPIEXEC_EXECUTABLE="$where/bin/mpiexec" &&
        tests "$1" ;;
    onednn3)
      where=$(package onednn3 onednn-devel-cpu-gomp) &&
        build "$1" release "$targets" -Ddnnl_DIR="$where/lib/cmake/dnnl" &&
        tests "$1" ;;
    no-cma) build "$1" release "$targets" && tests "$1" env OMPI_MCA_btl_vader_single_copy_mechanism=none ;;
    one-core) build "$1" release "$targets" && tests "$1" taskset --cpu-list 0 ;;
    bookworm | trixie) debian "$1" ;;
    # Libraries built without the sanitizer are ignored: it does not see the synchronisation of their threads.
    tsan) build "$1" tsan 'hios_engine_tests hios_network_tests hios_mpi_tests' &&
      tests "$1" env TSAN_OPTIONS=ignore_noninstrumented_modules=1 ;;
    emulated | emulated-asan)
      preset=release
      [ "$1" = emulated ] || preset=asan
      build "$1" "$preset" 'hios-schedule hios_emulated_cuda_tests hios_emulated_program_tests hios_emulated_rank_tests' \
        -DHIOS_EMULATED_WHOLE=ON && tests "$1" ;;
    *)
      printf 'bench/worlds.sh: there is no world "%s"\n' "$1" >&2
      exit 2 ;;
  esac
}

[ $# -gt 0 ] || set -- openmpi5 mpich onednn3 no-cma one-core tsan
mkdir -p build
for name in "$@"; do
  printf '== %s (build/world-%s.log)\n' "$name" "$name"
  if ! world "$name"; then
    failed=yes
    rows+=("$(printf '%-13s  was not built: see build/world-%s.log' "$name" "$name")")
  fi
done
printf '%s\n' "${rows[@]}"
[ "$failed" = no ]
