#!/usr/bin/env bash
# Puts HiGHS, which Debian 12 does not have, into build/packages/highs, where CMake finds it
# (cmake/FindHighs.cmake): headers, library and licence from a Python package whose version and hash are
# pinned here. Does nothing if it is installed. If it cannot be fetched, says so and succeeds: Cbc suffices.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.15.1
hash=17f30d23ef37488467732b45f141146f7c287826a576b4514ae39a8cc4068b28
folder=$PWD/build/packages/highs
if [ -f "$folder/version" ] && [ "$(cat "$folder/version")" = "$version" ]; then exit 0; fi

without() { printf 'HiGHS %s was not fetched (%s): milp solves by Cbc alone\n' "$version" "$1" >&2; exit 0; }
[ "$(uname -m)" = x86_64 ] || without "it is packed for x86-64 only"

mkdir -p build/packages
work=$(mktemp -d build/packages/fetch.XXXXXX)
trap 'rm -rf "$work"' EXIT
printf 'highsbox==%s --hash=sha256:%s\n' "$version" "$hash" >"$work/wanted"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --timeout 30 --retries 2 --dest "$work" --requirement "$work/wanted" >"$work/log" 2>&1 ||
  without "$(tail -n 1 "$work/log")"
python3 -m zipfile -e "$work"/highsbox-*.whl "$work/whole"
dist=$(echo "$work"/whole/highsbox-*.data/purelib/highsbox/highs_dist)

mkdir -p "$work/highs/lib"
cp -r "$dist/include" "$work/highs/include"
cp "$dist/lib/libhighs.so" "$work/highs/lib/"
cp "$dist/share/doc/HIGHS/LICENSE.txt" "$work/highs/LICENSE"
chmod 755 "$work/highs/lib/libhighs.so"
printf '%s\n' "$version" >"$work/highs/version"
rm -rf "$folder"
mv "$work/highs" "$folder"
printf 'fetched: HiGHS %s\n' "$version" >&2
