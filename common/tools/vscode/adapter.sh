#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Started by VS Code; the extension's folder may be a link to this one.
exec "$(dirname -- "$(readlink -f -- "$0")")/../../../lab" debug --dap
