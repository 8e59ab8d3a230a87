#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An empty Debian to try things in: debootstrap's smallest tree. Run as root; needs debootstrap.
#   fresh_debian.sh make DIR [--suite SUITE] [--mirror URL] [--copy PATH[=THERE]]…     a new tree of that Debian (default bookworm) in
#       DIR; --copy: a file of this machine that the tree needs to reach its mirrors, such as /etc/pip.conf or a certificate
#   fresh_debian.sh run DIR [--env NAME[=VALUE]]… [--bind PATH=THERE]… [--user NAME] [--at FOLDER] COMMAND…
#       runs there, with processes and mounts that end with it; --env hands on a variable of this machine, such as PIP_CERT; --bind:
#       a folder of this machine seen there
# A suite's first tree is kept beside DIR as SUITE.tar, from which later ones are made in seconds.
set -euo pipefail

fail() { printf 'fresh_debian: %s\n' "$*" >&2 && exit 1; }
usage() { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2 && exit 2; }

make_tree() {
  local tree=$1 suite=bookworm mirror='' copies=() path kept
  shift
  while (($# > 0)); do
    case $1 in
      --suite) suite=$2 ;;
      --mirror) mirror=$2 ;;
      --copy) copies+=("$2") ;;
      *) usage ;;
    esac
    shift 2
  done
  [[ ! -e $tree ]] || [[ -z $(ls -A "$tree") ]] || fail "$tree is not empty"
  mkdir -p "$tree"
  kept=$(dirname "$tree")/$suite.tar
  if [[ ! -f $kept ]]; then
    command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
    [[ -n $mirror ]] || mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || fail 'no mirror is configured: --mirror URL'
    debootstrap --variant=minbase "$suite" "$tree" "$mirror" >"$tree.log" 2>&1 || fail "debootstrap failed: see $tree.log"
    tar -C "$tree" -cf "$kept.new" . && mv "$kept.new" "$kept"
  else
    tar -C "$tree" -xf "$kept"
  fi
  rm -f "$tree"/var/cache/apt/archives/*.deb
  # A mirror may lag: sid's list is signed for a week.
  [[ $suite != sid ]] || echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/90lagging-mirror"
  for path in /etc/resolv.conf /etc/hosts "${copies[@]}"; do
    mkdir -p "$tree$(dirname "${path#*=}")" && cp -rL "${path%%=*}" "$tree${path#*=}"
  done
}

# As a container would: own processes and mounts, this machine's devices and network.
run_in_tree() {
  local tree=$1 variables=() binds=() user=root at=/ home=/root become=()
  shift
  while [[ ${1-} = --* ]]; do
    case $1 in
      --env) [[ $2 = *=* ]] && variables+=("$2") || [[ -z ${!2-} ]] || variables+=("$2=${!2}") ;;
      --bind) binds+=("${2%%=*}" "${2#*=}") ;;
      --user) user=$2 home=/home/$2 become=(setpriv "--reuid=$2" "--regid=$2" --init-groups) ;;
      --at) at=$2 ;;
      *) usage ;;
    esac
    shift 2
  done
  (($# > 0)) || usage
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    tree=$1 n_binds=$2
    shift 2
    mount --make-rprivate /
    mount --bind "$tree" "$tree"
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mount --rbind /sys "$tree/sys"
    for ((; n_binds > 0; --n_binds)); do
      mkdir -p "$1" "$tree$2"
      mount --bind "$1" "$tree$2"
      shift 2
    done
    # Not chroot: Linux gives no user namespace to who is in one, and the sandbox needs them.
    cd "$tree"
    pivot_root . .
    umount -l .
    exec /usr/bin/env -i "$@"
  ' bash "$tree" $((${#binds[@]} / 2)) "${binds[@]}" \
    HOME="$home" USER="$user" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb "${variables[@]}" \
    "${become[@]}" bash -c 'cd "$1" && shift && exec "$@"' bash "$at" "$@"
}

((EUID == 0)) || fail 'this needs root'
(($# >= 2)) || usage
case $1 in
  make) make_tree "${@:2}" ;;
  run) run_in_tree "${@:2}" ;;
  *) usage ;;
esac
