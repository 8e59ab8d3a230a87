#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first ten minutes: in an empty Debian, with a clone of what is committed here and nothing else, the README's first command must
# end with a score table of all points and its second with "N passed, 0 failed". Run as root; takes as long as the suite does.
#   common/tools/testing/try_fresh.sh [--suite bookworm|trixie|sid] [--cxx g++-N|clang++-N] [--cuda RELEASE] [--meson VERSION] [--at FOLDER] [--user]
#       [--with 'PACKAGE…'] [--first] [--refused WORDS] [--student] [--edition DIR] [--test 'NAME…'] [--cache DIR] [--dir DIR] [--keep] [--copy PATH[=THERE]]…
#       [--env NAME[=VALUE]]…
# --suite: of which Debian (default bookworm, which is 12). --cxx: with that compiler in place of the system's (a clang
# compiles the host's code, and nvcc takes the system's g++). --cuda: with another toolkit than the one that set-up would fetch (LAB_CUDA: 12, 13, 13.2 …). --meson: with that one in place of the pinned one.
# --at: the checkout's folder there (default /course). --user: as somebody without root, for whom root runs what the set-up asks for.
# --with: these packages are installed beforehand. (With --user and "g++ pkg-config python3-venv", the libraries
# have to be unpacked.)
# --first: the first command only. --refused: the first command must end with a line that holds WORDS instead. --student: of the
# edition that ./lab release makes, and then what its workflow runs (.github/grade.sh). --edition: of the edition in DIR, such as one with
# prebuilt tools; its first command is then "./lab grade reduction". --test: these arguments to the second command
# instead of none, for a shorter run. --cache: with ccache, whose folder is DIR of this machine; the CPU time is not that of an empty
# Debian then, and is marked.
# --dir: work there (default /var/tmp/gpu-labs-fresh). --keep: leave the tree. --copy, --env: as fresh_debian.sh has them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
student='' edition='' keep='''' tests='' cxx='' cuda='' meson='' at=/course user='' first='' refused='' with=()
while (($# > 0)); do
  case $1 in
    --keep) keep=1 && shift && continue ;;
    --student) student=1 && shift && continue ;;
    --user) user=student && shift && continue ;;
    --first) first=1 && shift && continue ;;
    --edition) student=1 edition=$2 ;;
    --cuda) cuda=$2 && variables+=(--env "LAB_CUDA=$2") ;;
    --cxx) cxx=$2 && variables+=(--env "CXX=$2") ;;
    --meson) meson=$2 ;;
    --with) read -ra with <<<"$2" ;;
    --at) at=$2 ;;
    --refused) refused=$2 first=1 ;;
    --test) tests=$2 ;;
    *) tree_option "$1" "${2-}" ;;
  esac
  shift 2
done

make_tree "$suite${cxx:+-$cxx}${cuda:+-cuda$cuda}${meson:+-meson$meson}${user:+-user}${student:+-student}"
as_user=() && [[ -z $user ]] || as_user=(--user "$user")
if [[ -n $edition ]]; then
  root=$edition
elif [[ -n $student ]]; then
  rm -rf "$dir/edition"
  python3 -B "$root/grader/release/release.py" "$root" "$dir/edition"
  root=$dir/edition
fi
git clone -q --no-hardlinks "$root" "$tree$at"
if [[ -n $user ]]; then
  in_tree useradd --create-home "$user"
  in_tree chown -R "$user:" "$at"
fi

packages=("${with[@]}") && [[ -z $cxx ]] || packages+=("${cxx/clang++/clang}")
[[ -z $meson ]] || packages+=(python3-venv)
((${#packages[@]} == 0)) || install_there "${packages[@]}"
if [[ -n $meson ]]; then
  # As whoever keeps an environment of their own: install_meson in setup.sh leaves it alone.
  # shellcheck disable=SC2016
  in_tree "${as_user[@]}" --at "$at" bash -c 'python3 -m venv .venv && .venv/bin/python -m pip install -q --disable-pip-version-check "meson==$1" \
    "$(grep "^ninja" common/tools/setup/requirements.txt)" && cp common/tools/setup/requirements.txt .venv/' bash "$meson"
fi

# What stands after "$ " in the README's first block.
mapfile -t commands < <(sed -n '/^```console/,/^```/s/^\$ \([^#]*[^# ]\) *#.*/\1/p' "$root/README.md" | head -n 2)
((${#commands[@]} == 2)) || { echo 'try_fresh: the README does not begin with two commands' >&2 && exit 1; }
[[ -z $edition ]] || commands[0]='./lab grade reduction'
wanted=("${refused:-100/100}" '^[1-9][0-9]* passed, 0 failed')
commands[1]+=${tests:+ $tests}
if [[ -n $student ]]; then
  wanted[0]='[0-9]+/[0-9]+'
  # What a workflow runs after a push, which has changed a file.
  commands+=("sed -i '1i // mine' labs/reduction/reduction.cu && git -c user.name=x -c user.email=x@localhost commit -qam mine &&
    BASE=HEAD~1 .github/grade.sh")
  wanted+=('labs/reduction +0/100')
fi
[[ -z $first ]] || commands=("${commands[0]}")

# run_there NUMBER COMMAND: its output goes into output-NUMBER, its CPU seconds into cpu-NUMBER.
run_there() {
  local TIMEFORMAT='%U %S'
  { time in_tree "${as_user[@]}" --at "$at" bash -c "$2" </dev/null 2>&1 | tee "$tree/output-$1"; } 2>"$tree/cpu-$1"
}

status=0
for i in "${!commands[@]}"; do
  ((i < 2)) || install_there git # which a workflow has
  printf '\n$ %s\n' "${commands[i]}"
  from=$SECONDS rc=0
  run_there "$i" "${commands[i]}" || rc=$?
  # What the set-up asks for is run as root, word for word.
  if [[ -n $user && $i = 0 && $rc != 0 ]] && asked=$(sed -n 's/^ *sudo \(apt-get install .*\)/\1/p' "$tree/output-0") && [[ -n $asked ]]; then
    printf '# %s\n' "$asked"
    in_tree bash -c "apt-get update -qq && $asked" </dev/null >/dev/null 2>&1
    rc=0
    run_there "$i" "${commands[i]}" || rc=$?
  fi
  printf '(%d s, %.0f CPU seconds)\n' $((SECONDS - from)) "$(awk '{print $1 + $2}' "$tree/cpu-$i")"
  [[ -n $refused ]] || ((rc == 0)) || status=1
  tail -n 12 "$tree/output-$i" | grep -Eq "${wanted[i]}" || status=1
done

python3 -B "$here/systems_table.py" "$tree" "$at" --suite "$suite" ${cxx:+--cxx "$cxx"} ${cuda:+--cuda "$cuda"} ${meson:+--meson "$meson"} \
  ${cache:+--cached} ${refused:+--refused "$refused"} ${user:+--user} || status=1
[[ -n $keep ]] || rm -rf --one-file-system "$tree"
((status == 0)) && echo 'All ended as they should.' || echo 'FAILED: not what the README says.'
exit $status
