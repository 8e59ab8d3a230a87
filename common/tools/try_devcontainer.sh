#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The devcontainer without Docker: runs the Dockerfile's RUN commands in an empty Debian 12, then, as its user, what
# devcontainer.json runs after creating it, and grades. Run as root.
#   common/tools/try_devcontainer.sh [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…    as try_fresh.sh has them
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=/var/tmp/gpu-labs-fresh copies=() variables=()
while (($# > 0)); do
  case $1 in
    --dir) dir=$2 ;;
    --copy) copies+=(--copy "$2") ;;
    --env) variables+=(--env "$2") ;;
    *) sed -n '3,5s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift 2
done

tree=$dir/devcontainer
mkdir -p "$dir"
[[ -f $tree.tar || ! -f $dir/debian.tar ]] || ln "$dir/debian.tar" "$tree.tar"
rm -rf --one-file-system "$tree"
bash "$here/fresh_debian.sh" make "$tree" "${copies[@]}"
folder=$root/.devcontainer
user=$(sed -n 's/.*"remoteUser": "\(.*\)".*/\1/p' "$folder/devcontainer.json")
after=$(sed -n 's/.*"postCreateCommand": "\(.*\)".*/\1/p' "$folder/devcontainer.json")
commands=$(sed ':a; /\\$/ { N; s/\\\n//; ba }' "$folder/Dockerfile" | sed -n 's/^RUN //p')
printf '%s\n' "$commands" | bash "$here/fresh_debian.sh" run "$tree" "${variables[@]}" bash -e
git clone -q --no-hardlinks "$root" "$tree/home/$user/course"
chroot "$tree" chown -R "$user:$user" "/home/$user/course"
for command in "$after" './lab grade reduction --solutions --device sim'; do
  printf '\n$ %s\n' "$command"
  bash "$here/fresh_debian.sh" run "$tree" "${variables[@]}" --user "$user" --at "/home/$user/course" bash -c "$command" </dev/null | tee "$dir/devcontainer.txt"
done
rm -rf --one-file-system "$tree"
grep -q '100/100' "$dir/devcontainer.txt"
