#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the .ptx files from the .cu files beside them: testdata/regenerate.sh [nvcc]
# In a folder of its own, whose name is then taken out of the text, where it also stands as DWARF bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
nvcc=${1:-nvcc}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp "$here"/*.cu "$work"
cd "$work"
for source in tree_sum calls; do
  "$nvcc" -std=c++17 -lineinfo -arch=compute_90 -ptx "$source.cu" -o "$source.ptx"
done
"$nvcc" -std=c++17 -G -arch=compute_80 -ptx tree_sum.cu -o tree_sum_debug.ptx
bytes=$(printf %s "$work" | od -An -v -tu1 | tr -s ' \n' ',' | sed 's/^,//; s/,$//')
sed -i "s|\"$work/|\"|; s|^\.b8 $bytes\$|.b8 46|" ./*.ptx
cp ./*.ptx "$here"
