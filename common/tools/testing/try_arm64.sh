#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The course on linux/arm64, tried on an x86-64 machine: in an empty Debian with arm64's libraries beside its own, cross compilers build
# what is committed here, and qemu-user runs it. nvcc stays x86-64's, with aarch64-linux-gnu-g++ as its host compiler and with the
# runtime libraries of CUDA's aarch64 wheels. Run as root; needs qemu-user-static and binfmt_misc.
#   common/tools/testing/try_arm64.sh [--build TARGET…]… [--run COMMAND]… [--keep] [--suite SUITE] [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…
# --build: these ninja targets, --run: this command in the build folder; without both: the tools, the tests of `tests` below, and
# a lab's grade. --keep: leave the tree, and go on with the one that is there. --suite … --env: as try_fresh.sh has them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
steps=() keep=''
while (($# > 0)); do
  case $1 in
    --keep) keep=1 && shift && continue ;;
    --build) steps+=("nice ninja $2") ;;
    --run) steps+=("$2") ;;
    *) tree_option "$1" "${2-}" ;;
  esac
  shift 2
done
# The last step puts arm64's nvcc, cudafe++, cicc, ptxas and fatbinary in the place of x86-64's, and has them compile a student's file.
# qemu-user knows no system-call filters: the grader's isolation is "namespaces", and `sandbox` skips what needs more.
tests='base ptx "sim portable" "random kernels" bottlenecks checkers cudart "cudart exports 13" "some programs under all checkers"
  "nccl model" "nccl collectives of 3 in group" remote "remote exports 13" dwarf lab reduction grader sandbox reports "small cases"
  "some mutants reduction"'
grade='LAB_ROOT=/course LAB_BUILD=/course/build ./grader/labcli grade reduction --device sim'
((${#steps[@]} > 0)) || steps=('nice ninja tools' "nice meson test --print-errorlogs -t 30 ${tests//$'\n'/}" "$grade --solutions"
  "cp -r /wheels/arm64/nvidia/cu13/{bin,nvvm} ../.venv/cuda/ && chmod +x ../.venv/cuda/{bin,nvvm/bin}/* &&
    cp ../solutions/reduction/reduction.cu ../labs/reduction/ && $grade")

[[ -d /proc/sys/fs/binfmt_misc && -f /proc/sys/fs/binfmt_misc/register ]] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
[[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]] || update-binfmts --enable qemu-aarch64 2>/dev/null || true
grep -q 'flags:.*F' /proc/sys/fs/binfmt_misc/qemu-aarch64 2>/dev/null ||
  { echo 'try_arm64: programs for aarch64 do not run here: apt-get install qemu-user-static binfmt-support' >&2 && exit 1; }

prepare() {
  make_tree "arm64-$suite"
  # shellcheck disable=SC2016
  in_tree dpkg --add-architecture arm64
  install_there g++ g++-aarch64-linux-gnu pkg-config python3 python3-venv bubblewrap libcli11-dev nlohmann-json3-dev \
    lib{c6,fmt,zstd,lz4,stb,seccomp,elf,gtest,gmock}-dev:arm64
  git clone -q --no-hardlinks "$root" "$tree/course"
  # shellcheck disable=SC2016
  in_tree --at /course bash -ec 'python3 -m venv .venv
    pip=(.venv/bin/python -m pip -q --disable-pip-version-check)
    "${pip[@]}" install -r common/tools/setup/requirements.txt -r common/tools/setup/requirements-cuda.txt
    "${pip[@]}" download --no-deps --only-binary=:all: --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 --dest /wheels \
      -r common/tools/setup/requirements-cuda.txt
    cuda=$(dirname "$(find "$PWD/.venv" -path "*/bin/nvcc")")/..
    rm -rf "$cuda/lib"
    for wheel in /wheels/*.whl; do python3 -m zipfile -e "$wheel" /wheels/arm64; done
    cp -r /wheels/arm64/nvidia/cu13/lib "$cuda/lib"
    ln -sfn lib "$cuda/lib64"
    for library in "$cuda"/lib/lib*.so.[0-9]*; do ln -sfn "$(basename "$library")" "${library%.so.*}.so"; done
    ln -sfn "$cuda" .venv/cuda
    cat >cross.ini <<CROSS
[binaries]
cpp = ["aarch64-linux-gnu-g++"]
cuda = ["$PWD/.venv/cuda/bin/nvcc", "-ccbin", "aarch64-linux-gnu-g++"]
ar = "aarch64-linux-gnu-ar"
objcopy = "aarch64-linux-gnu-objcopy"
strip = "aarch64-linux-gnu-strip"
pkg-config = "pkg-config"
[properties]
needs_exe_wrapper = false
pkg_config_libdir = ["/usr/lib/aarch64-linux-gnu/pkgconfig", "/usr/share/pkgconfig"]
[host_machine]
system = "linux"
cpu_family = "aarch64"
cpu = "armv8-a"
endian = "little"
CROSS
    sed -i "s/\"/'"'"'/g" cross.ini
    PATH=$PWD/.venv/bin:$PATH meson setup --cross-file cross.ini build'
}

[[ -n $keep && -f $dir/arm64-$suite/course/build/build.ninja ]] || prepare
tree=$dir/arm64-$suite
status=0
for step in "${steps[@]}"; do
  printf '\n$ %s\n' "$step"
  time in_tree --at /course/build bash -c "export PATH=/course/.venv/bin:\$PATH; $step" </dev/null || status=1
done
[[ -n $keep ]] || rm -rf --one-file-system "$tree"
exit $status
