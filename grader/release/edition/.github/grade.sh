#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the workflow runs. Tried by hand: GITHUB_OUTPUT=/tmp/output GITHUB_STEP_SUMMARY=/tmp/summary.md .github/grade.sh
set -euo pipefail
./lab doctor || true
./lab grade --device sim --json result.json --html report.html
./lab report result.json --annotations - --summary summary.md --classroom classroom.txt
cat summary.md >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
printf 'result=%s\n' "$(cat classroom.txt)" >>"${GITHUB_OUTPUT:-/dev/stdout}"
