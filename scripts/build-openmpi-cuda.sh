#!/usr/bin/env bash
# Builds a CUDA-aware Open MPI 4.1.4 from Debian's source package and installs it into a folder of its
# own: Debian's binary package does not support GPU memory. Needs the CUDA toolkit's headers, but neither
# a GPU nor a driver; a rank loads the library by dlopen. Takes about 14 minutes on two cores; does
# nothing if the same Open MPI is already installed.
#   scripts/build-openmpi-cuda.sh [--prefix DIR] [--cuda DIR] [--jobs N] [--source FILE]
#   --prefix DIR   install folder (default: build/openmpi-cuda). It may be moved or copied afterwards:
#                  set OPAL_PREFIX to its new path
#   --cuda DIR     the CUDA toolkit (default: that of nvcc)
#   --jobs N       concurrent compilers (default: all cores)
#   --source FILE  openmpi_4.1.4.orig.tar.xz, if apt cannot fetch it
# Fetching does not change the machine's apt: it uses own lists and an own cache, with apt's checks.
set -euo pipefail
cd "$(dirname "$0")/.."

version=4.1.4
source_sha256=ddaee7dbdb01eb4fab1fda5b5e03e8bbff026711806c095c1f39bb410f99f263

say() { printf 'openmpi-cuda: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }
usage() {
  printf 'usage: scripts/build-openmpi-cuda.sh [--prefix DIR] [--cuda DIR] [--jobs N] [--source FILE]\n' >&2
  exit 2
}

prefix=build/openmpi-cuda
jobs=$(nproc)
cuda= source=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case "$1" in
    --prefix) prefix=$2 ;;
    --cuda) cuda=$2 ;;
    --jobs) jobs=$2 ;;
    --source) source=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs $jobs: not a number of jobs"
[ -z "$source" ] || source=$(realpath -e "$source" 2>/dev/null) || fail "--source: there is no such file"
prefix=$(realpath -m "$prefix")

if [ -z "$cuda" ]; then
  nvcc=$(command -v nvcc || true)
  [ -n "$nvcc" ] || fail "there is no nvcc in PATH: name the CUDA toolkit with --cuda DIR"
  cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
fi
[ -f "$cuda/include/cuda.h" ] || fail "$cuda/include/cuda.h is missing: --cuda names no CUDA toolkit"

# Everything that the pack must not depend on is disabled by name: libraries that configure finds on this
# machine (InfiniBand, UCX, libfabric, libnl) would become plugins that lack them on another one.
arguments=(
  --with-cuda="$cuda"
  --disable-mpi-fortran --disable-oshmem --disable-io-romio
  --with-pmix=internal --with-hwloc=internal --with-libevent=internal
  --without-ucx --without-ofi --without-verbs --without-psm --without-psm2 --without-x --without-zlib
  --enable-mca-no-build=btl-uct,common-ucx,btl-usnic,reachable-netlink
  # Programs set their own search paths; the wrapper compilers must not add this folder.
  --disable-wrapper-rpath --disable-wrapper-runpath
  --disable-silent-rules --enable-shared --disable-static
  CFLAGS="-O2 -DNDEBUG" CXXFLAGS="-O2 -DNDEBUG"
)
stamp="$prefix/share/openmpi/hios-build.txt"
wanted=$(printf '%s\n' "openmpi $version $source_sha256" "${arguments[@]}")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  say "$prefix is already there and current"
  exit 0
fi
if [ -d "$prefix" ] && [ -n "$(ls -A "$prefix")" ] && [ ! -f "$stamp" ]; then
  fail "$prefix exists and was not made by this script: name another --prefix"
fi

scripts/setup.sh --openmpi-cuda

work=$PWD/build/openmpi-source
mkdir -p "$work"

# Debian's archive as configured in this machine's apt: the mirror of its own suite.
remedy="give Debian 12's openmpi_$version.orig.tar.xz as --source FILE"
fetch() {
  command -v apt-get >/dev/null || fail "there is no apt-get here: $remedy"
  local apt="$work/apt" keyring=/usr/share/keyrings/debian-archive-keyring.gpg option=
  [ -f "$keyring" ] && option="[signed-by=$keyring] "
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n "s%^Debian|main|%deb-src $option%p" | sort -u >"$apt/sources.list"
  [ -s "$apt/sources.list" ] ||
    fail "apt knows no Debian archive here: $remedy"
  local own=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User= -q=2)
  say "fetching Debian's source package openmpi $version"
  apt-get "${own[@]}" update
  local release
  release=$(apt-cache "${own[@]}" showsrc --only-source openmpi | sed -n "s/^Version: \($version-.*\)/\1/p" | head -1)
  [ -n "$release" ] || fail "apt's Debian archive has no openmpi $version: $remedy"
  (cd "$work" && apt-get "${own[@]}" source --download-only --only-source "openmpi=$release" >/dev/null)
  rm -rf "$apt"
}

if [ -z "$source" ]; then
  source="$work/openmpi_$version.orig.tar.xz"
  [ -f "$source" ] || fetch
fi
printf '%s  %s\n' "$source_sha256" "$source" | sha256sum --check --status ||
  fail "$source is not Debian's openmpi_$version.orig.tar.xz (its SHA-256 differs); remove it and run again"

# Only the tarball, without Debian's patches: these are for other processors, man pages and Debian's own
# folders, and would need the autotools.
say "unpacking and configuring"
rm -rf "$work/tree" "$prefix"
mkdir -p "$work/tree" "$(dirname "$stamp")"
echo unfinished >"$stamp"  # marks the folder as ours, also after an interruption
tar -xf "$source" -C "$work/tree" --strip-components=1
cd "$work/tree"

# run LOG COMMAND…: runs a command quietly; prints the end of its log on failure.
run() {
  local log="$work/$1"
  shift
  "$@" >"$log" 2>&1 || { tail -n 25 "$log" >&2; fail "failed; the whole log is $log"; }
}

# No --libdir: OPAL_PREFIX moves the libraries only if their folder is given relative to the prefix.
# The libraries contain neither the builder's name nor the machine's.
run configure.log env USER=hios HOSTNAME=localhost ./configure --prefix="$prefix" "${arguments[@]}"
grep -q 'CUDA support: *yes' "$work/configure.log" || fail "configure disabled CUDA support; the whole log is $work/configure.log"
say "building with $jobs jobs (about 14 minutes on two cores)"
started=$SECONDS
run build.log make -j "$jobs"
say "built in $(((SECONDS - started + 59) / 60)) min; installing into $prefix"
run install.log make install
cp LICENSE "$prefix/share/openmpi/LICENSE"  # accompanies the libraries
cd "$work"
rm -rf "$work/tree"
printf '%s\n' "$wanted" >"$stamp"
say "done: $(du -sh "$prefix" | cut -f1) in $prefix"
