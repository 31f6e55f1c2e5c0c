#!/usr/bin/env bash
# The package as its users get it: installs a build into a temporary folder, compiles every installed
# header by itself, builds and runs the examples there, adds the project to another one, and looks
# into the Debian packages. Not a CTest test, since it takes minutes: test.sh calls it.
#   tests/package/check.sh BUILD_FOLDER
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
mpirun=(mpirun --bind-to none --oversubscribe --mca plm isolated --mca btl self,vader
  --mca oob_tcp_if_include lo)

fail() { printf 'package: %s\n' "$*" >&2; exit 1; }
# quietly NAME COMMAND…: shows the output only where the command fails.
quietly() {
  local name=$1; shift
  printf 'package: %4d s: %s\n' "$SECONDS" "$name"
  "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log" >&2; fail "$name failed"; }
}
# build_project NAME FOLDER FLAG…
build_project() {
  local name=$1 folder=$2; shift 2
  quietly "$name: configure" cmake -G Ninja -S "$folder" -B "$work/build-$name" -DCMAKE_BUILD_TYPE=Release "$@"
  quietly "$name: build" cmake --build "$work/build-$name"
}
says() { grep -q -- "$1" "$work/log" || { cat "$work/log" >&2; fail "nowhere says '$1'"; }; }

quietly install cmake --install "$build" --prefix "$prefix"
# Where a shell or man searches for the completion and the page of a program.
manual=()
for program in hios hios-profile hios-schedule hios-run; do
  manual+=("share/man/man1/$program.1" "share/bash-completion/completions/$program" "share/zsh/site-functions/_$program"
           "share/fish/vendor_completions.d/$program.fish")
done
for file in bin/hios bin/hios-profile bin/hios-schedule bin/hios-run share/doc/hios/copyright \
            share/hios/schemas/hios-schedule.json include/hios/hios/base/error.h "${manual[@]}"; do
  [ -s "$prefix/$file" ] || fail "does not install $file"
done
if grep -rlF -e "$source_folder" -e "$build" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then fail "names the folder it was built in"; fi
# Links in what people read there lead to what is there.
python3 - "$prefix/share/doc/hios" >"$work/log" <<'PYTHON' || { cat "$work/log" >&2; fail "installs documents with dead links"; }
import re, sys
from pathlib import Path

dead = 0
for page in sorted(Path(sys.argv[1]).rglob("*.md")):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s#]+)", text):
        if not target.startswith(("http://", "https://")) and not (page.parent / target).exists():
            print(f"{page}: {target}")
            dead += 1
sys.exit(dead > 0)
PYTHON
quietly "hios" "$prefix/bin/hios" bench --help
says 'usage: hios bench'
quietly "hios-schedule" "$prefix/bin/hios-schedule" --list-algorithms
if [ -f "$source_folder/build/packages/highs/version" ]; then  # the library that came with it solves
  quietly "milp" env -u LD_LIBRARY_PATH "$prefix/bin/hios-schedule" --random n=12,spread=0.5 --devices 2 \
    --algorithm milp --option solver=highs
fi

quietly "two ranks" env -u LD_LIBRARY_PATH "$prefix/share/hios/two-ranks"
says 'bit for bit the result of one'
quietly "hios.pc: build" env PKG_CONFIG_PATH="$(dirname "$(find "$prefix" -name hios.pc)")" bash -c \
  'g++ -O0 "$1"/main.cpp "$1"/earliest_finish.cpp $(pkg-config --cflags --libs hios) -o "$2"' _ \
  "$source_folder/examples/own_scheduler" "$work/by_pkg_config"
quietly "hios.pc: run" "$work/by_pkg_config"

build_project headers "$source_folder/tests/package/headers" -DCMAKE_PREFIX_PATH="$prefix"

# The examples, away from the repository; they are of C++ alone, the headers above of C and C++.
cp -r "$source_folder/examples" "$work/examples"
for example in own_scheduler run_network; do
  build_project "$example" "$work/examples/$example" -DCMAKE_PREFIX_PATH="$prefix"
done
quietly "own_scheduler compares from C++" "$work/build-own_scheduler/own_scheduler"
says 'hios-lp .* ms, .* above the bound'
says 'earliest-finish .* ms, .* above the bound'
own=$work/build-own_scheduler/own_program
quietly "own_program lists the scheduler" "$own" --list-algorithms
says earliest-finish
quietly "own_program runs it" "$own" --random n=60,edges=120,layers=6,seed=1 --devices 2 \
  --algorithm earliest-finish --option insertion=false --output "$work/schedule.json"
quietly "own_program compares it" "$own" --random n=60,edges=120,layers=6,seed=1 --devices 2 --compare
says earliest-finish
says hios-lp
quietly "run_network on one rank" "$work/build-run_network/run_network" squeezenet 64
says 'on 1 ranks.*verified: yes'
quietly "run_network on two ranks" "${mpirun[@]}" -np 2 "$work/build-run_network/run_network" squeezenet 64
says 'on 2 ranks.*verified: yes'

build_project subdirectory "$source_folder/tests/package/subdirectory" -DHIOS_SOURCE="$source_folder"
quietly "subdirectory: install" cmake --install "$work/build-subdirectory" --prefix "$work/other"
[ "$(find "$work/other" -type f)" = "$work/other/share/digest.cpp" ] || fail "installs itself with a project that adds it"

quietly cpack cpack --config "$build/CPackConfig.cmake" -B "$work/packages"
programs=$(echo "$work"/packages/hios_*.deb)
development=$(echo "$work"/packages/libhios-dev_*.deb)
quietly "hios.deb: fields" dpkg-deb -I "$programs"
for field in '^ Package: hios$' '^ Version: 0' '^ Architecture: ' '^ Maintainer: .*<.*@.*>' '^ Section: science' \
             '^ Depends: .*libc6.*libdnnl.*libopenmpi' '^ Depends: .*python3 (>= 3.11)' \
             '^ Recommends: openmpi-bin, python3-jinja2, python3-pil$' '^ Description: '; do
  says "$field"
done
quietly "hios.deb: files" dpkg-deb -c "$programs"
for file in ./usr/bin/hios ./usr/bin/hios-profile ./usr/bin/hios-schedule ./usr/bin/hios-run ./usr/share/doc/hios/copyright \
            ./usr/share/hios/schemas/hios-graph.json "${manual[@]/#/./usr/}"; do
  says " $file$"
done
! grep -q '/include/\|\.a$' "$work/log" || fail "hios.deb holds files for development"
quietly "libhios-dev.deb: fields" dpkg-deb -I "$development"
for field in '^ Depends: .*nlohmann-json3-dev.*libboost-program-options-dev.*libopenmpi-dev.*libdnnl-dev' \
             '^ Depends: .*libhwloc-dev' '^ Section: libdevel'; do
  says "$field"
done
quietly "libhios-dev.deb: files" dpkg-deb -c "$development"
for file in include/hios/hios/base/error.h include/hios/scheduler/registry.h 'lib.*/libhios_engine.a' \
            'lib.*/cmake/hios/hios-config.cmake' share/doc/libhios-dev/copyright; do
  says " ./usr/$file$"
done
printf 'package: all is well\n'
