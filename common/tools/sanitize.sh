#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./lab sanitize PROGRAM|FILE.cu [ARGUMENT…]: runs a CUDA program of anybody's on the simulator with all checks on. Findings come on
# stderr at the end; the exit code is the program's own, or 86 where that is 0 and there are errors. A source file is compiled
# first (more flags: NVCC_APPEND_FLAGS). Called by `lab` with LAB_BUILD and NVCC.
set -euo pipefail

say() { printf 'lab: %s\n' "$*" >&2; }

if (($# == 0)) || [[ $1 = -h || $1 = --help ]]; then
  cat <<'USAGE'
usage: ./lab sanitize PROGRAM|FILE.cu [ARGUMENT…]

Runs a CUDA program on the simulator with memcheck, racecheck (shared and global memory), initcheck, synccheck and the leak check.
FILE.cu is compiled first; a program must have been linked with "-cudart shared", with PTX inside, and "-lineinfo" for line numbers:
  nvcc -gencode arch=compute_90,code=[sm_90,compute_90] -lineinfo -cudart shared program.cu -o program
Exit code: the program's own; 86 where that is 0 and errors were found. SIM_REPORT=FILE writes the findings as JSON as well.
The kinds of findings: common/sim/checkers/README.md
USAGE
  exit $(($# == 0 ? 2 : 0))
fi

program=$1
shift
[[ -f $program ]] || { say "there is no file $program" && exit 2; }
if [[ $program = *.cu ]]; then
  if grep -q '^[[:space:]]*#[[:space:]]*include "[a-z0-9_]*/lab\.hpp"' "$program"; then
    lab=$(basename "$program" .cu)
    say "$program is a lab's file, which has no main: \"./lab check $lab\" does this for it" && exit 2
  fi
  folder=$(mktemp -d)
  trap 'rm -rf -- "$folder"' EXIT
  "${NVCC:-nvcc}" -std=c++20 -gencode arch=compute_90,code=compute_90 -lineinfo -cudart shared "$program" -o "$folder/program" || exit 2
  program=$folder/program
elif [[ ! -x $program ]]; then
  say "$program is neither a program nor a .cu file" && exit 2
elif command -v readelf >/dev/null && ! readelf -d "$program" 2>/dev/null | grep -q 'NEEDED.*libcudart\.so\.1[23]'; then
  say "$program does not use the shared CUDA runtime: link it with nvcc's \"-cudart shared\""
  exit 2
fi
[[ $program = */* ]] || program=./$program
code=0
SIM_CHECK=1 LD_LIBRARY_PATH=$LAB_BUILD/common/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$program" "$@" || code=$?
exit "$code"
