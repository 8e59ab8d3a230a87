#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An autograder made by ./lab gradescope, used as Gradescope does, in an empty Debian 12 (Gradescope's own images are Ubuntu or any
# image of yours): setup.sh once, then run_autograder on no submission, a wrong file name and a right submission. LAB: one whose solution is a single file
# (reduction, which is the default, or scan). Run as root.
#   common/tools/try_gradescope.sh [--lab LAB] [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…    as try_fresh.sh has them
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
lab=reduction
while (($# > 0)); do
  case $1 in
    --lab) lab=$2 ;;
    *) tree_option "$1" "${2-}" ;;
  esac
  shift 2
done

make_tree gradescope
python3 "$root/grader/gradescope/package.py" "$root" "$dir/autograder.zip" "$lab"
mkdir -p "$tree/autograder/source" "$tree/autograder/submission"
python3 - "$dir/autograder.zip" "$tree/autograder/source" <<'PYTHON'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        os.chmod(archive.extract(info, sys.argv[2]), info.external_attr >> 16)
PYTHON

echo '== setup.sh'
in_tree --at /autograder/source ./setup.sh </dev/null
echo '== run_autograder, nothing handed in'
in_tree --at /autograder bash source/run_autograder </dev/null
cp "$tree/autograder/results/results.json" "$dir/results-nothing.json"
echo '== run_autograder, a wrong file name'
cp "$root/labs/$lab/$lab.cu" "$tree/autograder/submission/kernel.cpp"
in_tree --at /autograder bash source/run_autograder </dev/null
cp "$tree/autograder/results/results.json" "$dir/results-misnamed.json"
rm "$tree/autograder/submission/kernel.cpp"
echo '== run_autograder, the solution handed in'
cp "$root/solutions/$lab/$lab.cu" "$tree/autograder/submission/"
in_tree --at /autograder bash source/run_autograder </dev/null
cp "$tree/autograder/results/results.json" "$dir/results-solution.json"
rm -rf --one-file-system "$tree"
python3 - "$dir" <<'PYTHON'
import json, sys
nothing, misnamed, solution = (json.load(open(f"{sys.argv[1]}/results-{name}.json")) for name in ["nothing", "misnamed", "solution"])
visible = lambda r: [t for t in r["tests"] if t["visibility"] == "visible"]
full = sum(t["max_score"] for t in visible(solution) if "(bonus)" not in t["name"])
print(f"nothing handed in: {nothing['score']}; the solution: {solution['score']} of {full} and a bonus")
assert "it is empty" in nothing["output"], nothing["output"]
assert misnamed["score"] == 0 and "kernel.cpp" in misnamed["output"], misnamed["output"]
assert nothing["score"] == 0 and all(t["status"] == "failed" for t in visible(nothing))
assert solution["score"] >= full == 100 and all(t["status"] == "passed" for t in visible(solution)), solution
PYTHON
