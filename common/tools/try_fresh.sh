#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first ten minutes: in an empty Debian 12, with a clone of what is committed here and nothing else, the README's first command
# must end with a score table and its second with "N passed, 0 failed". Run as root; takes as long as the suite does.
#   common/tools/try_fresh.sh [--student] [--cuda 12] [--test 'NAME…'] [--dir DIR] [--keep] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…
# --student: of the edition that ./lab release makes, and then what its workflow runs (.github/grade.sh).
# --cuda 12: with CUDA 12's toolkit in place of 13's (LAB_CUDA). --test: these arguments to the second command instead of none, for
# a shorter run. --dir: work there (default /var/tmp/gpu-labs-fresh). --keep: leave the tree. --copy, --env: as fresh_debian.sh has them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
student='' keep='' tests=''
while (($# > 0)); do
  case $1 in
    --keep) keep=1 && shift && continue ;;
    --student) student=1 && shift && continue ;;
    --cuda) export LAB_CUDA=$2 && variables+=(--env LAB_CUDA) ;;
    --test) tests=$2 ;;
    *) tree_option "$1" "${2-}" ;;
  esac
  shift 2
done

make_tree "debian${LAB_CUDA:+-cuda$LAB_CUDA}${student:+-student}"
if [[ -n $student ]]; then
  rm -rf "$dir/edition"
  python3 -B "$root/grader/release/release.py" "$root" "$dir/edition"
  root=$dir/edition
fi
git clone -q --no-hardlinks "$root" "$tree/course"

# What stands after "$ " in the README's first block.
mapfile -t commands < <(sed -n '/^```console/,/^```/s/^\$ \([^#]*[^# ]\) *#.*/\1/p' "$root/README.md" | head -n 2)
((${#commands[@]} == 2)) || { echo 'try_fresh: the README does not begin with two commands' >&2 && exit 1; }
wanted=('[0-9]+/[0-9]+' '^[1-9][0-9]* passed, 0 failed')
commands[1]+=${tests:+ $tests}
if [[ -n $student ]]; then
  commands+=('.github/grade.sh')
  wanted+=('^result=[A-Za-z0-9+/=]+$')
fi
status=0
for i in "${!commands[@]}"; do
  printf '\n$ %s\n' "${commands[i]}"
  from=$SECONDS
  in_tree --at /course bash -c "${commands[i]}" </dev/null 2>&1 | tee "$dir/output-$i" || status=1
  printf '(%d s)\n' $((SECONDS - from))
  tail -n 12 "$dir/output-$i" | grep -Eq "${wanted[i]}" || status=1
done
[[ -n $keep ]] || rm -rf --one-file-system "$tree"
((status == 0)) && echo 'All ended as they should.' || echo 'FAILED: not what the README says.'
exit $status
