#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An autograder made by ./lab gradescope, used as Gradescope does, in an empty Debian 12 (Gradescope's own images are Ubuntu or any
# image of yours): setup.sh once, then run_autograder on a right submission and on none. Run as root.
#   common/tools/try_gradescope.sh [--lab LAB] [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…    as try_fresh.sh has them
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=/var/tmp/gpu-labs-fresh lab=reduction copies=() variables=()
while (($# > 0)); do
  case $1 in
    --lab) lab=$2 ;;
    --dir) dir=$2 ;;
    --copy) copies+=(--copy "$2") ;;
    --env) variables+=(--env "$2") ;;
    *) sed -n '3,5s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift 2
done

tree=$dir/gradescope
in_tree() { bash "$here/fresh_debian.sh" run "$tree" "${variables[@]}" "$@" </dev/null; }
mkdir -p "$dir"
[[ -f $tree.tar || ! -f $dir/debian.tar ]] || ln "$dir/debian.tar" "$tree.tar"
rm -rf --one-file-system "$tree"
bash "$here/fresh_debian.sh" make "$tree" "${copies[@]}"
python3 "$root/grader/gradescope/package.py" "$root" "$dir/autograder.zip" "$lab"
mkdir -p "$tree/autograder/source" "$tree/autograder/submission"
python3 - "$dir/autograder.zip" "$tree/autograder/source" <<'PYTHON'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        os.chmod(archive.extract(info, sys.argv[2]), info.external_attr >> 16)
PYTHON

echo '== setup.sh'
in_tree --at /autograder/source ./setup.sh
echo '== run_autograder, nothing handed in'
in_tree --at /autograder bash source/run_autograder
cp "$tree/autograder/results/results.json" "$dir/results-nothing.json"
echo '== run_autograder, the solution handed in'
cp "$root/solutions/$lab/$lab.cu" "$tree/autograder/submission/"
in_tree --at /autograder bash source/run_autograder
cp "$tree/autograder/results/results.json" "$dir/results-solution.json"
rm -rf --one-file-system "$tree"
python3 - "$dir" <<'PYTHON'
import json, sys
nothing, solution = (json.load(open(f"{sys.argv[1]}/results-{name}.json")) for name in ["nothing", "solution"])
visible = lambda r: [t for t in r["tests"] if t["visibility"] == "visible"]
full = sum(t["max_score"] for t in visible(solution) if "(bonus)" not in t["name"])
print(f"nothing handed in: {nothing['score']}; the solution: {solution['score']} of {full} and a bonus")
assert nothing["score"] == 0 and all(t["status"] == "failed" for t in visible(nothing))
assert solution["score"] >= full == 100 and all(t["status"] == "passed" for t in visible(solution)), solution
PYTHON
