#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes for long: builds the targets in build-fuzz/ with AddressSanitizer, UBSan and coverage, then runs one after the other.
#   common/harness/fuzz/run.sh [SECONDS [TARGET…]]      default: 600 s each, all targets; another seed each time
# What broke one is left in build-fuzz/found/; a line for each run goes to build-fuzz/runs.txt. Put a finding into corpus/TARGET/.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
cd "$root"
build=${FUZZ_BUILD:-$root/build-fuzz}
seconds=${1:-600}
shift || true
# shellcheck disable=SC1091
[[ ! -f build/.lab-stamp ]] || { source build/.lab-stamp && export PATH="$STAMP_PATH:$PATH"; }
[[ -f $build/build.ninja ]] || meson setup "$build" --native-file build/lab-native.ini -Db_sanitize=address,undefined -Db_lundef=false \
  -Dfuzz_coverage=true -Dwerror=false -Dbuildtype=debugoptimized
ninja -C "$build" fuzz
(($# > 0)) || set -- $(cd "$build/common/harness/fuzz" && for program in fuzz_*; do [[ ! -x $program || -d $program ]] || echo "${program#fuzz_}"; done)
failed=0
for target in "$@"; do
  seed=$(date +%s)
  line="$(date -u +%F) $target seed $seed: "
  if out=$(UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
    "$build/common/harness/fuzz/fuzz_$target" --seconds "$seconds" --seed "$seed" --save "$build/found/$target" "common/harness/fuzz/corpus/$target" 2>&1 >/dev/null); then
    line+=$(tail -n 1 <<<"$out")
  else
    line+="FOUND something: $build/found/$target"
    printf '%s\n' "$out" | tail -n 40
    failed=1
  fi
  printf '%s\n' "$line" | tee -a "$build/runs.txt"
done
exit $failed
