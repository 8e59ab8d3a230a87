#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An empty Debian 12 to try things in: debootstrap's smallest tree. Run as root; needs debootstrap.
#   fresh_debian.sh make DIR [--mirror URL] [--copy PATH[=THERE]]…     a new tree in DIR; --copy: a file of this machine that the
#       tree needs to reach its mirrors, such as /etc/pip.conf or a certificate
#   fresh_debian.sh run DIR [--env NAME[=VALUE]]… [--user NAME] [--at FOLDER] COMMAND…
#       runs there, with processes and mounts that end with it; --env hands on a variable of this machine, such as PIP_CERT
# The first tree is kept as DIR.tar, from which later ones of the same name are made in seconds.
set -euo pipefail

fail() { printf 'fresh_debian: %s\n' "$*" >&2 && exit 1; }
usage() { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2 && exit 2; }

make_tree() {
  local tree=$1 mirror='' copies=() path
  shift
  while (($# > 0)); do
    case $1 in
      --mirror) mirror=$2 ;;
      --copy) copies+=("$2") ;;
      *) usage ;;
    esac
    shift 2
  done
  [[ ! -e $tree ]] || [[ -z $(ls -A "$tree") ]] || fail "$tree is not empty"
  mkdir -p "$tree"
  if [[ ! -f $tree.tar ]]; then
    command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
    [[ -n $mirror ]] || mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$') || fail 'no mirror is configured: --mirror URL'
    debootstrap --variant=minbase bookworm "$tree" "$mirror" >"$tree.log" 2>&1 || fail "debootstrap failed: see $tree.log"
    tar -C "$tree" -cf "$tree.tar.new" . && mv "$tree.tar.new" "$tree.tar"
  else
    tar -C "$tree" -xf "$tree.tar"
  fi
  for path in /etc/resolv.conf /etc/hosts "${copies[@]}"; do
    mkdir -p "$tree$(dirname "${path#*=}")" && cp -rL "${path%%=*}" "$tree${path#*=}"
  done
}

# As a container would: own processes and mounts, this machine's devices and network.
run_in_tree() {
  local tree=$1 variables=() user=root at=/ home=/root become=()
  shift
  while [[ ${1-} = --* ]]; do
    case $1 in
      --env) [[ $2 = *=* ]] && variables+=("$2") || [[ -z ${!2-} ]] || variables+=("$2=${!2}") ;;
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
    tree=$1 user=$2 at=$3
    shift 3
    mount --make-rprivate /
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mount --rbind /sys "$tree/sys"
    exec chroot "$tree" /usr/bin/env -i "$@"
  ' bash "$tree" "$user" "$at" \
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
