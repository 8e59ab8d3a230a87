#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./lab sanitize PROGRAM|FILE.cu [ARGUMENT…] [-- OPTION…]: runs a CUDA program of anybody's on the simulator with all checks on.
# Findings come on stderr at the end; the exit code is the program's own, or 86 where that is 0 and there are errors. A source
# file is compiled first. Called by `lab` with LAB_ROOT, LAB_BUILD and NVCC.
set -euo pipefail

tools=$(dirname -- "${BASH_SOURCE[0]}")
say() { printf 'lab: %s\n' "$*" >&2; }

if (($# == 0)) || [[ $1 = -h || $1 = --help ]]; then
  cat <<'USAGE'
usage: ./lab sanitize [-v] PROGRAM [ARGUMENT…]
       ./lab sanitize [-v] FILE.cu [ARGUMENT…] [-- OPTION…]

Runs a CUDA program on the simulator with memcheck, racecheck (also for lost
updates, shared and global memory), initcheck, synccheck and the leak check.
-v shows findings whole, with all names and lines.

FILE.cu is compiled first, with the options after "--", as by
  nvcc -gencode arch=compute_90,code=[sm_90,compute_90] -lineinfo \
    -Xcompiler -g -std=c++20 -cudart shared FILE.cu -o program OPTION…
and with the simulator's NCCL (nccl.h, libnccl.so.2). If the program uses
NCCL, there are 8 devices (SIM_DEVICES). Options may replace -std and
-gencode. More options: NVCC_APPEND_FLAGS.

PROGRAM must have been linked with "-cudart shared", with PTX inside. It
needs "-lineinfo" for the lines of kernels, "-Xcompiler -g" for those of
host code, and sm_90 machine code for the limits on registers.

Exit code: the program's own; 86 where that is 0 and errors were found.
SIM_REPORT=FILE writes the findings as JSON as well.
The kinds of findings: common/simulator/sim/checkers/README.md
USAGE
  exit $(($# == 0 ? 2 : 0))
fi

[[ $1 != -v ]] || { export SIM_VERBOSE=1 && shift; }
program=${1-}
shift || true
[[ -f $program ]] || { say "there is no file $program" && exit 2; }
arguments=("$@")
if [[ $program = *.cu ]]; then
  if grep -q '^[[:space:]]*#[[:space:]]*include "[a-z0-9_]*/lab\.hpp"' "$program"; then
    lab=$(basename "$program" .cu)
    say "$program is a lab's file, which has no main: \"./lab check $lab\" does this for it" && exit 2
  fi
  arguments=()
  while (($# > 0)) && [[ $1 != -- ]]; do arguments+=("$1") && shift; done
  folder=$(mktemp -d)
  trap 'rm -rf -- "$folder"' EXIT
  bash "$tools/compile_program.sh" "$program" "$folder/program" "${@:2}" 2>&1 | tee "$folder/warnings" >&2 || exit 2
  program=$folder/program
fi
[[ -x $program ]] || { say "$program is neither a program nor a .cu file" && exit 2; }
exec 3>&2 2>/dev/null # this shell's own line about a program that was killed
code=0
CUSAN_LIBRARIES=$LAB_BUILD/common/simulator/cudart "$tools/../simulator/cusan" "$program" "${arguments[@]}" 2>&3 3>&- || code=$?
exec 2>&3
((code <= 128)) || ! signal=$(kill -l $((code - 128)) 2>/dev/null) || say "exit code $code: SIG$signal ended the program, unless it returned this number"
! grep -qs '#2009[12]-D' "${folder-}/warnings" || say "not checked: host code reads or writes __device__ variables (nvcc's warnings above)." \
  "It has copies of its own, which kernels do not see: call cudaMemcpyFromSymbol or cudaMemcpyToSymbol"
exit "$code"
