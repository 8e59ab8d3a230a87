#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Links this extension to where VS Code looks for extensions: on this machine, or in a container or over SSH.
#   common/tools/vscode/install.sh
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "$0")")
for folder in "$HOME/.vscode/extensions" "$HOME/.vscode-server/extensions"; do
  mkdir -p "$folder"
  ln -sfn "$here" "$folder/gpu-labs.lab-kernel-debugger-0.1.0"
done
echo "The kernel debugger is linked into VS Code's extensions. In a window that is open, run \"Developer: Reload Window\"."
