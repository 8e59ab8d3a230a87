#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the workflows of GitHub and GitLab run: grades the labs whose files have changed since the commit BASE, the last one of the push
# before. If there is no such commit, those that have changed since the first commit. Or the labs that are named.
#   BASE=HEAD~1 .github/grade.sh            .github/grade.sh reduction scan
# ISOLATION=LEVEL: the isolation that is needed (default: limits, which any machine offers).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
changed() {
  local base=${BASE-}
  git cat-file -e "$base^{commit}" 2>/dev/null || base=$(git rev-list --max-parents=0 HEAD | tail -n 1)
  git diff --name-only "$base" HEAD -- labs | sed -n 's|^labs/\([a-z0-9_]*\)/\1\.cu$|\1|p'
}
labs=("$@")
if ((${#labs[@]} == 0)); then
  list=$(changed) || { echo 'grade.sh: git can not tell what has changed; nothing was graded' >&2 && exit 1; }
  mapfile -t labs < <(printf '%s' "$list")
fi
if ((${#labs[@]} == 0)); then
  echo 'No file of a lab has changed: nothing to grade.' | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
  exit 0
fi
./lab doctor || true
# With the checks of a graded run, so that the verdicts are those of the grade.
./lab grade "${labs[@]}" --device sim --graded --isolation "${ISOLATION:-limits}" \
  --json result.json --html report.html --junit junit.xml
if [[ -n ${GITHUB_STEP_SUMMARY-} ]]; then
  ./lab report result.json --annotations - --summary summary.md
  cat summary.md >>"$GITHUB_STEP_SUMMARY"
fi
