#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make_tools.sh EDITION WORK [ARCH…]: builds the tools of the edition in the folder EDITION so that they run on every Linux with glibc 2.31
# or later, and puts them into EDITION/prebuilt, with digests (common/tools/setup/prebuilt.sh uses them). ARCH: x86_64 or aarch64; by default this
# machine's, and the other one if its cross compiler is here. Called by release.py, which has copied the edition to WORK/source.
# WORK/ARCH also keeps what a later call needs again: the old glibc, and what has been built.
#
# g++ compiles with the headers and libraries of Debian 11's glibc (a "sysroot"); its own libstdc++ and libgcc, fmt, zstd, lz4,
# libelf, zlib and libseccomp are linked statically. What these need of a newer glibc is in newer_names.c. What students' objects are linked
# with (the runners' fixed parts) has C++ names that every libstdc++ since GCC 5 has, and hands over types whose layout is the course's own
# (lab/request.hpp); libraries for students' programs export C names.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
edition=$1 work=$2 source=$2/source
shift 2
tools=$here/../../../common/tools
export CCACHE_COMPILERCHECK=content # g++ is a script that is written anew
LAB_ROOT=$edition LAB_BUILD=$work LAB_TOOLS=''
source "$tools/setup/probe.sh"
source "$tools/setup/toolkit.sh"
source "$tools/setup/prebuilt.sh"

fail() { printf '%s\n' "$*" >&2 && exit 1; }

nvcc=$(find_nvcc) && at_least "$(nvcc_version "$nvcc")" 13 || fail "Prebuilt tools need CUDA 13: unset LAB_CUDA, or set CUDA_HOME."

# Sets what depends on the processor: `arch` as uname has it, `triplet` and `debian` as compilers and packages have it, `at`, which
# is where its files are, and `prefix` of the programs' names, which is not empty for a cross compiler.
choose_arch() {
  arch=$1 at=$work/$1 prefix=''
  case $arch in
    x86_64) triplet=x86_64-linux-gnu debian=amd64 isas=portable,avx2,avx512 ;;
    aarch64) triplet=aarch64-linux-gnu debian=arm64 isas=portable ;;
    *) fail "There are no prebuilt tools for $arch." ;;
  esac
  sysroot=$at/glibc build=$at/build
  if [[ $arch = "$(uname -m)" ]]; then
    cxx=$(find_cxx) || fail 'Prebuilt tools need a g++ that nvcc takes.'
  else
    prefix=$triplet- && cxx=$(command -v "${prefix}g++") || fail "Tools for $arch need a cross compiler: apt-get install g++-${triplet/_/-}"
  fi
}

# ---- The old glibc, with the other libraries beside it: this machine's, or for another processor those that Debian has for it
from_debian() { # from_debian SUITE PACKAGE…: unpacked into the new sysroot
  local folder=$at/packages/$1 deb
  mkdir -p "$folder"
  download_packages "$folder" "$1" main "${@:2}"
  for deb in "$folder"/*.deb; do dpkg -x "$deb" "$new"; done
}
take_libraries_of_this_machine() {
  local name
  for name in zstd lz4 seccomp elf z; do
    [[ -f /usr/lib/$triplet/lib$name.a ]] || fail "There is no lib$name.a, with which prebuilt tools are linked."
    ln -sfn "/usr/lib/$triplet/lib$name.a" "$new/usr/lib/$triplet/"
  done
}
make_sysroot() {
  local name there=/usr new=$sysroot.new
  rm -rf "$new" && mkdir -p "$new/usr/bin"
  if [[ -n $prefix ]]; then
    there=/usr/$triplet
    from_debian "$(. /etc/os-release && echo "$VERSION_CODENAME")" libzstd-dev liblz4-dev libseccomp-dev libelf-dev zlib1g-dev libfmt-dev libstb-dev
  fi
  from_debian bullseye libc6 libc6-dev
  # Links lead out of the tree.
  ln -sfnr "$(find "$new/lib/$triplet" -name 'ld-2.*.so')" "$(find "$new"/lib* -maxdepth 1 -name 'ld-linux-*')"
  find "$new" -xtype l -lname '/*' | while IFS= read -r name; do ln -sfnr "$new$(readlink "$name")" "$name"; done
  # The kernel's headers and its system calls' numbers may be newer.
  for name in linux asm-generic "$triplet/asm" "$triplet/bits/syscall.h"; do
    ln -sfn "$there/include/${name#"${prefix:+$triplet/}"}" "$new/usr/include/$name"
  done
  for name in c++ "$triplet/c++" fmt CLI nlohmann stb elfutils libelf.h gelf.h nlist.h zstd.h zstd_errors.h lz4.h lz4hc.h lz4frame.h seccomp.h \
    seccomp-syscalls.h; do
    [[ ! -e /usr/include/$name || -e $new/usr/include/$name ]] || ln -sfn "/usr/include/$name" "$new/usr/include/$name"
  done
  [[ -n $prefix ]] || take_libraries_of_this_machine
  # What was in libraries of its own before glibc 2.34.
  sed -i "s|AS_NEEDED (|& $(printf "/lib/$triplet/%s " libdl.so.2 libpthread.so.0 librt.so.1)|" "$new/usr/lib/$triplet/libc.so"
  rm -rf "$sysroot" && touch "$new" && mv "$new" "$sysroot"
}

# The compilers that see this tree. Nothing of a library that goes inside is seen from outside. A cross compiler would look for the
# headers of its own glibc before those of the tree.
write_compiler() { # write_compiler NAME COMPILER LANGUAGE
  local folder headers='' static=''
  [[ $3 != c++ ]] || static=-static-libstdc++
  if [[ -n $prefix ]]; then
    headers=-nostdinc
    while read -r folder; do headers+=" -isystem '$(readlink -f "$folder")'"; done < <("$2" -E -v -x "$3" /dev/null 2>&1 | grep -E '^ .*(/c\+\+/|/lib/gcc[^.]*/include$)')
    headers+=" -isystem '$sysroot/usr/include/$triplet' -isystem '$sysroot/usr/include'"
  fi
  mkdir -p "$at/bin"
  cat >"$at/bin/$1" <<WRAPPER
#!/bin/sh
exec '$2' --sysroot='$sysroot' $headers -B'$sysroot/usr/lib/$triplet/' -L'$sysroot/usr/lib/$triplet' $static -static-libgcc \\
  -Wl,--exclude-libs,ALL -ffile-prefix-map='$source'=. "\$@"
WRAPPER
  chmod +x "$at/bin/$1"
}

# What later glibcs have.
add_newer_names() {
  "$at/bin/gcc" -O2 -fPIC -c "$here/newer_names.c" -o "$at/newer_names.o"
  ar r "$sysroot/usr/lib/$triplet/libc_nonshared.a" "$at/newer_names.o"
}

# fmt is a shared library alone: its code, compiled as headers only.
make_fmt() {
  local fmt=$sysroot/usr/lib/$triplet/libfmt.a
  [[ ! $fmt -nt $here/fmt.cpp || /usr/include/fmt/core.h -nt $fmt ]] || return 0
  "$at/bin/g++" -std=c++20 -O2 -fPIC -DFMT_HEADER_ONLY -fkeep-inline-functions -ffunction-sections \
    -I"$source/common/simulator" -c "$here/fmt.cpp" -o "$at/fmt.o"
  rm -f "$fmt" && ar rcs "$fmt" "$at/fmt.o"
}

# What has libcudart's name and symbols, for linking with another processor's.
make_cudart() {
  local lib=$at/cuda/lib64 symbols=$source/common/simulator/cudart/abi/symbols13.txt
  mkdir -p "$lib" && ln -sfn "$(cd "$(dirname "$(readlink -f "$nvcc")")/../include" && pwd)" "$at/cuda/include"
  echo 'libcudart.so.13 { global: *; };' >"$at/cudart.map"
  sed '/^#/d; s/.*/.globl &\n.type &, %function\n&:/' "$symbols" >"$at/cudart.s"
  "${prefix}gcc" -shared -nostdlib -Wl,-soname,libcudart.so.13 -Wl,--version-script="$at/cudart.map" "$at/cudart.s" -o "$lib/libcudart.so"
}

# ---- The build
write_machine_file() {
  local cache='' name headers=''
  # An installed toolkit may lack the folder of the other processor; the headers are the same.
  [[ -z $prefix ]] || headers=", '-I$at/cuda/include', '-isystem', '$at/cuda/include/cccl'"
  ! command -v ccache >/dev/null || cache="'$source/common/tools/cache/ccache', "
  printf "[binaries]\ncpp = [%s]\ncuda = ['%s', '-ccbin', '%s'%s]\n" "$cache'$at/bin/g++'" "$nvcc" "$at/bin/g++" "$headers"
  [[ -n $prefix ]] || return 0
  for name in ar objcopy strip; do printf "%s = '%s'\n" "$name" "$prefix$name"; done
  printf "pkg-config = 'pkg-config'\n[properties]\nsys_root = '%s'\npkg_config_libdir = ['%s', '/usr/share/pkgconfig']\n" "$sysroot" \
    "$sysroot/usr/lib/$triplet/pkgconfig"
  printf "[host_machine]\nsystem = 'linux'\ncpu_family = '%s'\ncpu = '%s'\nendian = 'little'\n" "$arch" "$arch"
}
# PTX for the oldest GPU that CUDA 13 knows: the runners' own kernels run on every GPU.
build_tools() {
  local options=(--native-file "$at/machine.ini")
  [[ -z $prefix ]] || options=(--cross-file "$at/machine.ini" "-Dtoolkit_path=$at/cuda")
  write_machine_file >"$at/machine.new"
  if [[ ! -f $build/build.ninja ]] || ! cmp -s "$at/machine.new" "$at/machine.ini"; then
    rm -rf "$build"
    mv "$at/machine.new" "$at/machine.ini"
    meson setup "${options[@]}" -Dtests=false -Dprefer_static=true "-Dsimulator_isas=$isas" -Dgpu_arch=75,90 "$build" "$source"
  fi
  ninja -C "$build" tools parts_of_labs debugger simulators
}

# ---- What is packed
list_tools() {
  printf '%s\n' grader/labcli grader/sandbox_enter common/harness/remote/simulated_device common/harness/debugging/liblab_case.so
  (cd "$build" && printf '%s\n' common/harness/remote/*.so.* common/simulator/{cudart,debug}/*.so.* common/harness/runner/fixed_part_*.o |
    grep -v '\.p$\|\.symbols$')
}
pack_tools() {
  local packed=$at/packed name newer
  rm -rf "$packed" && mkdir -p "$packed"
  list_tools | while IFS= read -r name; do
    mkdir -p "$packed/${name%/*}"
    if [[ $name = *.o ]]; then "${prefix}strip" -g -o "$packed/$name" "$build/$name"; else "${prefix}strip" -o "$packed/$name" "$build/$name"; fi
    newer=$("${prefix}objdump" -T "$packed/$name" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1) || true
    at_least "$PREBUILT_GLIBC" "${newer#GLIBC_}" || fail "$name needs $newer."
  done
  chmod -R u=rwX,go=rX "$packed"
  (cd "$packed" && find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum) >"$edition/prebuilt/$arch.tools.sha256"
  tar -C "$packed" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . | gzip -9n >"$edition/prebuilt/$arch.tar.gz"
  (cd "$edition" && { list_sources && printf 'prebuilt/%s\0' "$arch.tar.gz" "$arch.tools.sha256"; } | LC_ALL=C sort -z | xargs -0 sha256sum) >"$at/sha256"
  mv "$at/sha256" "$edition/prebuilt/$arch.sha256"
}

if (($# == 0)); then
  set -- "$(uname -m)"
  for other in x86_64 aarch64; do
    [[ $other = "$1" ]] || ! command -v "$other-linux-gnu-g++" >/dev/null || set -- "$1" "$other"
  done
fi
rm -rf "$edition/prebuilt" && mkdir -p "$edition/prebuilt"
newest=$(stat -c %Y "$here"/* | sort -n | tail -n 1)
for one in "$@"; do
  choose_arch "$one"
  mkdir -p "$at"
  [[ -d $sysroot && $(stat -c %Y "$sysroot") -ge $newest ]] || make_sysroot
  write_compiler gcc "${prefix}gcc" c
  write_compiler g++ "$cxx" c++
  add_newer_names
  make_fmt
  [[ -z $prefix ]] || make_cudart
  build_tools
  pack_tools
done
