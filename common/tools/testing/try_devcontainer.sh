#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Dockerfile without Docker: runs what it says in an empty Debian, of the release that it names. The checkout's own, then, as its user, what devcontainer.json
# runs after creating the container, and grades; or the image of the student edition, in which everything is built. Run as root.
#   common/tools/testing/try_devcontainer.sh [--image] [--cache DIR] [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…
# --image: the student edition's. The others: as try_fresh.sh has them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
image=''
while (($# > 0)); do
  case $1 in
    --image) image=1 && shift && continue ;;
    *) tree_option "$1" "${2-}" ;;
  esac
  shift 2
done

[[ -z $cache ]] || chmod -R a+rwX "$cache" # every user may write to it

# docker_build DOCKERFILE FOLDER: what `docker build` does with FOLDER, of the instructions that are used here. Sets `user` and `at`.
user=root at=/
docker_build() {
  local line
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      'FROM debian:'*) ;; # suite_of has read it
      'ENV '*) for line in ${line#ENV }; do variables+=(--env "$line"); done ;;
      'WORKDIR '*) at=${line#WORKDIR } && mkdir -p "$tree$at" ;;
      'USER '*) user=${line#USER } ;;
      'COPY . .') tar -C "$2" --exclude-from="$2/.dockerignore" -cf - . | tar -C "$tree$at" -xf - --no-same-owner ;;
      'RUN '*)
        printf '\n# %s\n' "${line#RUN }"
        line=${line#RUN }
        [[ -z $cache ]] || line=${line//CCACHE_DISABLE=1 /}
        in_tree --at "$at" bash -c "$line" </dev/null
        ;;
      *) echo "try_devcontainer: what is \"$line\"?" >&2 && return 1 ;;
    esac
  done < <(sed ':a; /\\$/ { N; s/\\\n//; ba }' "$1")
}

# suite_of DOCKERFILE: the Debian that it begins with.
suite_of() {
  case $(sed -n 's/^FROM debian:\(.*\)-slim$/\1/p' "$1") in
    12) suite=bookworm ;;
    13) suite=trixie ;;
    *) echo "try_devcontainer: which Debian is that of $1?" >&2 && return 1 ;;
  esac
}

if [[ -n $image ]]; then
  rm -rf "$dir/edition"
  python3 -B "$root/grader/release/release.py" "$root" "$dir/edition"
  suite_of "$dir/edition/Dockerfile" && make_tree image
  docker_build "$dir/edition/Dockerfile" "$dir/edition"
  commands=('./lab grade demo') wanted=90/100
else
  folder=$root/.devcontainer
  suite_of "$folder/Dockerfile" && make_tree devcontainer
  docker_build "$folder/Dockerfile" "$root"
  [[ $user = $(sed -n 's/.*"remoteUser": "\(.*\)".*/\1/p' "$folder/devcontainer.json") ]]
  at=/home/$user/course
  git clone -q --no-hardlinks "$root" "$tree$at"
  chroot "$tree" chown -R "$user:$user" "$at"
  commands=("$(sed -n 's/.*"postCreateCommand": "\(.*\)".*/\1/p' "$folder/devcontainer.json")" './lab grade reduction --solutions --device sim') wanted=100/100
fi
as_user=() && [[ $user = root ]] || as_user=(--user "$user")
for command in "${commands[@]}"; do
  printf '\n$ %s\n' "$command"
  in_tree "${as_user[@]}" --at "$at" bash -c "$command" </dev/null | tee "$dir/devcontainer.txt"
done
grep -q "$wanted" "$dir/devcontainer.txt"
if [[ -z $image ]]; then
  # The kernel debugger answers an editor through the linked extension.
  hello='{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}'
  printf 'Content-Length: %d\r\n\r\n%s' "${#hello}" "$hello" |
    in_tree --user "$user" --at "/home/$user" bash -c '.vscode-server/extensions/gpu-labs.lab-kernel-debugger-*/adapter.sh' |
    grep -q supportsStepBack
fi
rm -rf --one-file-system "$tree"
echo 'All ended as they should.'
