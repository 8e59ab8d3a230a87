# SPDX-License-Identifier: MIT
# Sourced by the try_*.sh beside it: the options that all of them take, and their empty Debian. Sets `here` (this folder), `root`
# (of the repository), `dir` (where to work), `suite` (which Debian), `cache` (ccache's folder, "" for none), `copies` and `variables`
# (as fresh_debian.sh has them).
# shellcheck shell=bash disable=SC2034
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
dir=/var/tmp/gpu-labs-fresh suite=bookworm cache='' copies=() variables=()

# tree_option NAME VALUE: takes one of the common options; others end the script with the comment at its top.
tree_option() {
  case $1 in
    --dir) dir=$2 ;;
    --suite) suite=$2 ;;
    --cache) cache=$2 && variables+=(--bind "$2=/var/cache/ccache" --env CCACHE_DIR=/var/cache/ccache --env CCACHE_COMPILERCHECK=content) ;;
    --copy) copies+=(--copy "$2") ;;
    --env) variables+=(--env "$2") ;;
    *) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
}

# make_tree NAME: an empty Debian in $dir/NAME, from now on $tree; with ccache, if there is a folder for it.
make_tree() {
  tree=$dir/$1
  mkdir -p "$dir"
  rm -rf --one-file-system "$tree"
  bash "$here/fresh_debian.sh" make "$tree" --suite "$suite" "${copies[@]}"
  [[ -z $cache ]] || install_there ccache
}

# install_there PACKAGE…: in the tree.
install_there() {
  # shellcheck disable=SC2016
  in_tree bash -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null' bash "$@" \
    >"$tree.packages" 2>&1 || { tail -n 5 "$tree.packages" >&2 && return 1; }
}

# in_tree [--user NAME] [--at FOLDER] COMMAND…
in_tree() { bash "$here/fresh_debian.sh" run "$tree" "${variables[@]}" "$@"; }
