#!/usr/bin/env bash
# Prints the packages of Debian or Ubuntu whose libraries the programs in a folder load, one per line:
#   runtime-packages.sh PREFIX/bin
# The image's second stage installs these instead of compilers and headers. Libraries that no package owns (HiGHS, in the
# prefix itself) and those of NVIDIA's image are left out: the second stage's base has the latter.
set -euo pipefail
ldd "$1"/hios-profile "$1"/hios-schedule "$1"/hios-run |
  sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u |
  while read -r library; do dpkg-query --search "$library" "$(readlink -f "$library")" "/usr$library" 2>/dev/null || true; done |
  sed -n 's/^\([a-z0-9.+-]*\)\(:[a-z0-9]*\)\?: .*/\1/p' | sort -u | grep -v -E '^(cuda|libcu|libnv|libc6$)' 
