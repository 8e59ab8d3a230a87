#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compile_program.sh FILE.cu PROGRAM [OPTION…]: compiles a CUDA program of anybody's for ./lab sanitize and ./lab debug.
# The options are nvcc's; with -G there is no machine code, because unoptimised code needs other registers than the program's.
# Called with LAB_ROOT, LAB_BUILD and NVCC.
set -euo pipefail
file=$1 program=$2
shift 2

flags=(-lineinfo -Xcompiler -g) code=arch=compute_90,code=[sm_90,compute_90]
if [[ " $* " = *' -G '* ]]; then
  flags=(-g) code=arch=compute_90,code=compute_90
fi
[[ " $*" = *' -gencode'* || " $*" = *' -arch'* || " $*" = *' --gpu-architecture'* ]] || flags+=(-gencode "$code")
[[ " $*" = *' -std'* || " $*" = *' --std'* ]] || flags+=(-std=c++20)

# NCCL is the simulator's, and is only linked if the program calls it. Its header comes last, so that a program's own wins.
nccl=() libraries=$LAB_BUILD/common/simulator/cudart
[[ ! -f $libraries/libnccl.so.2 ]] ||
  nccl=(-I "$LAB_ROOT/common/simulator/nccl" -Xlinker "--as-needed,$libraries/libnccl.so.2,--no-as-needed,-rpath-link=$libraries")
exec "${NVCC:-nvcc}" -cudart shared "$file" -o "$program" "${flags[@]}" "$@" "${nccl[@]}"
