#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An autograder made by ./lab gradescope, used as Gradescope does, in an empty Debian 12, or that of --suite (Gradescope's own images are
# Ubuntu or any image of yours): setup.sh once, then run_autograder on no submission, an empty file, a wrong file name, a wrong kernel and a right
# submission, and with no space for the results. Every results.json is compared with Gradescope's documented form, results.schema.json. LAB:
# one whose solution is a single file (reduction, which is the default, or scan). Run as root; needs python3-jsonschema.
#   common/tools/testing/try_gradescope.sh [--lab LAB] [--package ZIP] [--limited] [--cxx g++-N] [--suite SUITE] [--dir DIR] [--cache DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…    as try_fresh.sh has them
# --package: one that was made before for this lab. --limited: with half a CPU and 768 MB
# for submissions, as in Gradescope's smallest container; a table at the end says what each of them used. --cxx: that compiler is the
# only one there, and is called g++.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
lab=reduction package='' limited='' cxx=''
while (($# > 0)); do
  case $1 in
    --limited) limited=1 && shift && continue ;;
    --package) package=$2 ;;
    --lab) lab=$2 ;;
    --cxx) cxx=$2 ;;
    *) tree_option "$1" "${2-}" ;;
  esac
  shift 2
done
python3 -c 'import jsonschema' || { echo 'try_gradescope: apt-get install python3-jsonschema' >&2 && exit 1; }

make_tree gradescope
rm -f "$dir"/results-*.json "$dir"/output-*.txt
if [[ -n $package ]]; then
  cp "$package" "$dir/autograder.zip"
else
  python3 "$root/grader/gradescope/package.py" "$root" "$dir/autograder.zip" "$lab"
fi
mkdir -p "$tree/autograder/source" "$tree/autograder/submission"
python3 - "$dir/autograder.zip" "$tree/autograder/source" <<'PYTHON'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        os.chmod(archive.extract(info, sys.argv[2]), info.external_attr >> 16)
PYTHON
if [[ -n $cxx ]]; then
  install_there "$cxx"
  in_tree ln -s "$cxx" /usr/bin/g++
  in_tree ln -s "${cxx/g++/gcc}" /usr/bin/gcc
fi

echo '== setup.sh'
time in_tree --at /autograder/source ./setup.sh </dev/null

# The limits hold for this process and what it starts from now on. `memory` and `cpu` are the groups' folders.
name=gpu-labs-gradescope groups=/sys/fs/cgroup memory='' cpu='' peak=memory.peak
if [[ -n $limited && -f $groups/cgroup.controllers ]]; then
  memory=$groups/$name cpu=$memory
  mkdir -p "$memory" && echo '50000 100000' >"$cpu/cpu.max" && echo 768M >"$memory/memory.max"
elif [[ -n $limited ]]; then
  memory=$groups/memory/$name cpu=$groups/cpu/$name peak=memory.max_usage_in_bytes
  mkdir -p "$memory" "$cpu" && echo 50000 >"$cpu/cpu.cfs_quota_us" && echo 768M >"$memory/memory.limit_in_bytes"
fi
for group in $memory $cpu; do echo $$ >"$group/cgroup.procs"; done
used() { # used NAME SECONDS CPU-SECONDS: a row of the table; the memory contains pages of files
  local most=-
  [[ -z $memory ]] || most="$(($(cat "$memory/$peak") / 1000000)) MB"
  printf '%-10s  %5d s  %5.0f s  %8s  %4d  %s\n' "$1" "$2" "$3" "$most" "${codes[$1]}" \
    "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["score"])' "$dir/results-$1.json" 2>/dev/null || echo none)"
}

# submit NAME FILE…: what Gradescope does with a submission of these files; its exit code into codes[NAME]. `before` runs first.
declare -A codes
table=''
before=:
submit() {
  local name=$1 code=0 from=$SECONDS TIMEFORMAT='%U %S'
  [[ -z $memory ]] || echo 0 >"$memory/$peak"
  echo "== run_autograder, $name"
  rm -rf "$tree/autograder/results" && mkdir "$tree/autograder/results"
  # shellcheck disable=SC2016
  { time in_tree --at /autograder bash -c "$before"' && bash source/run_autograder; code=$?; [[ -e results/results.json ]] && echo "a score was written"; exit $code' \
    </dev/null 2>&1 | tee "$dir/output-$name.txt" || code=$?; } 2>"$dir/time"
  codes[$name]=$code
  [[ ! -f $tree/autograder/results/results.json ]] || cp "$tree/autograder/results/results.json" "$dir/results-$name.json"
  table+=$(used "$name" $((SECONDS - from)) "$(awk '{ print $1 + $2 }' "$dir/time")")$'\n'
  rm -rf "$tree"/autograder/submission/*
}

submit nothing
touch "$tree/autograder/submission/$lab.cu"
submit empty
cp "$root/labs/$lab/$lab.cu" "$tree/autograder/submission/kernel.cpp"
submit misnamed
python3 - "$root" "$lab" "$tree/autograder/submission/$lab.cu" <<'PYTHON'
import pathlib, sys
root, lab, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, str(root / "common/tools/authoring"))
import make_mutant
mutants = (one.read_text() for one in sorted((root / f"grader/mutants/{lab}").glob("*.mutant")))
_, changes = make_mutant.parse(next(text for text in mutants if "\n// checker: racecheck" in text), lab)
out.write_text(make_mutant.apply(make_mutant.source_of(root / f"solutions/{lab}/{lab}.cu", root), changes, lab))
PYTHON
submit wrong
cp "$root/solutions/$lab/$lab.cu" "$tree/autograder/submission/"
submit solution
cp "$root/solutions/$lab/$lab.cu" "$tree/autograder/submission/"
before='mount -t tmpfs -o size=4k none /autograder/results' submit full-disk
rm -rf --one-file-system "$tree"

printf '\nsubmission     time     CPU    memory  exit  score\n%s\n' "$table"
for name in nothing empty misnamed wrong solution; do ((codes[$name] == 0)) || { echo "FAILED: $name" && exit 1; }; done
((codes[full-disk] != 0)) || { echo 'FAILED: a full disk has to end with an error' && exit 1; }
python3 - "$root" "$dir" "$lab" <<'PYTHON'
import json, sys
import jsonschema
root, folder, lab = sys.argv[1:]
schema = json.load(open(f"{root}/grader/gradescope/results.schema.json"))
results = {}
for name in ["nothing", "empty", "misnamed", "wrong", "solution"]:
    results[name] = json.load(open(f"{folder}/results-{name}.json"))
    jsonschema.validate(results[name], schema)
visible = lambda name: [t for t in results[name]["tests"] if t["visibility"] == "visible"]
full = sum(t["max_score"] for t in visible("solution") if "(bonus)" not in t["name"])
print("; ".join(f"{name}: {result['score']}" for name, result in results.items()), f"of {full} and a bonus; all of the documented form")
for name, words in {"nothing": "it is empty", "empty": "is empty", "misnamed": "kernel.cpp"}.items():
    said = results[name]["output"] + visible(name)[0]["output"]
    assert results[name]["score"] == 0 and words in said, (name, said)
    assert all(t["status"] == "failed" for t in visible(name)), name
failed = [t for t in visible("wrong") if t["status"] == "failed"]
assert len(failed) == 1 and failed[0]["score"] == 0 and "WRONG_ANSWER" in failed[0]["output"] and "race" in failed[0]["output"], failed
assert 0 < results["wrong"]["score"] < full, results["wrong"]
assert results["solution"]["score"] >= full == 100 and all(t["status"] == "passed" for t in visible("solution")), results["solution"]
assert "a score was written" not in open(f"{folder}/output-full-disk.txt").read(), "a full disk is no score"
PYTHON
echo 'All ended as they should.'
