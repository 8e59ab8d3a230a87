#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The devcontainer without Docker: runs the Dockerfile's RUN commands in an empty Debian 12, then, as its user, what
# devcontainer.json runs after creating it, and grades. Run as root.
#   common/tools/try_devcontainer.sh [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…    as try_fresh.sh has them
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
while (($# > 0)); do
  tree_option "$1" "${2-}"
  shift 2
done

make_tree devcontainer
folder=$root/.devcontainer
user=$(sed -n 's/.*"remoteUser": "\(.*\)".*/\1/p' "$folder/devcontainer.json")
after=$(sed -n 's/.*"postCreateCommand": "\(.*\)".*/\1/p' "$folder/devcontainer.json")
commands=$(sed ':a; /\\$/ { N; s/\\\n//; ba }' "$folder/Dockerfile" | sed -n 's/^RUN //p')
printf '%s\n' "$commands" | in_tree bash -e
git clone -q --no-hardlinks "$root" "$tree/home/$user/course"
chroot "$tree" chown -R "$user:$user" "/home/$user/course"
for command in "$after" './lab grade reduction --solutions --device sim'; do
  printf '\n$ %s\n' "$command"
  in_tree --user "$user" --at "/home/$user/course" bash -c "$command" </dev/null | tee "$dir/devcontainer.txt"
done
# The kernel debugger answers an editor through the linked extension.
hello='{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}'
printf 'Content-Length: %d\r\n\r\n%s' "${#hello}" "$hello" |
  in_tree --user "$user" --at "/home/$user" bash -c '.vscode-server/extensions/gpu-labs.lab-kernel-debugger-*/adapter.sh' |
  grep -q supportsStepBack
grep -q '100/100' "$dir/devcontainer.txt"
rm -rf --one-file-system "$tree"
