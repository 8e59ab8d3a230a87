#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make_tools.sh EDITION WORK: builds the tools of the edition in the folder EDITION, for x86-64, so that they run on the older systems
# among the supported ones, too, and puts them into EDITION/prebuilt, with digests (common/tools/setup/prebuilt.sh uses them). Called by
# prebuilt_tools.py, which has copied the edition to WORK/source. WORK/x86_64 also keeps what a later call needs again: the old glibc, and
# what has been built.
#
# g++ compiles with the headers and libraries of an old glibc (a "sysroot" of Debian's package); its own libstdc++ and libgcc, fmt, zstd, lz4,
# libelf, zlib and libseccomp are linked statically. What these need of a newer glibc is in newer_names.c. What students' objects are linked
# with (the runners' fixed parts) has C++ names that every libstdc++ since GCC 5 has, and hands over types whose layout is the course's own
# (lab/request.hpp); libraries for students' programs export C names.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
edition=$1 source=$2/source
arch=x86_64 triplet=x86_64-linux-gnu at=$2/x86_64
sysroot=$at/glibc build=$at/build
tools=$here/../../../common/tools
export CCACHE_COMPILERCHECK=content # g++ is a script that is written anew
LAB_ROOT=$edition LAB_BUILD=$2 LAB_TOOLS=''
source "$tools/setup/probe.sh"
source "$tools/setup/toolkit.sh"
source "$tools/setup/prebuilt.sh"

fail() { printf '%s\n' "$*" >&2 && exit 1; }

nvcc=$(find_nvcc) && at_least "$(nvcc_version "$nvcc")" 13 || fail "Prebuilt tools need CUDA 13: unset LAB_CUDA, or set CUDA_HOME."

cxx=$(find_cxx) || fail 'Prebuilt tools need a g++ that nvcc takes.'

# ---- The old glibc, with the other libraries beside it: this machine's
take_libraries_of_this_machine() {
  local name
  for name in zstd lz4 seccomp elf z; do
    [[ -f /usr/lib/$triplet/lib$name.a ]] || fail "There is no lib$name.a, with which prebuilt tools are linked."
    ln -sfn "/usr/lib/$triplet/lib$name.a" "$new/usr/lib/$triplet/"
  done
}
make_sysroot() {
  local name deb packages=$at/packages new=$sysroot.new
  rm -rf "$new" && mkdir -p "$new/usr/bin"
  mkdir -p "$packages"
  download_packages "$packages" bullseye main libc6 libc6-dev
  for deb in "$packages"/*.deb; do dpkg -x "$deb" "$new"; done
  # Links lead out of the tree.
  ln -sfnr "$(find "$new/lib/$triplet" -name 'ld-2.*.so')" "$(find "$new"/lib* -maxdepth 1 -name 'ld-linux-*')"
  find "$new" -xtype l -lname '/*' | while IFS= read -r name; do ln -sfnr "$new$(readlink "$name")" "$name"; done
  # The kernel's headers and its system calls' numbers may be newer.
  for name in linux asm-generic "$triplet/asm" "$triplet/bits/syscall.h"; do
    ln -sfn "/usr/include/$name" "$new/usr/include/$name"
  done
  for name in c++ "$triplet/c++" fmt CLI nlohmann stb elfutils libelf.h gelf.h nlist.h zstd.h zstd_errors.h lz4.h lz4hc.h lz4frame.h seccomp.h \
    seccomp-syscalls.h; do
    [[ ! -e /usr/include/$name || -e $new/usr/include/$name ]] || ln -sfn "/usr/include/$name" "$new/usr/include/$name"
  done
  take_libraries_of_this_machine
  # What was in libraries of its own before glibc 2.34.
  sed -i "s|AS_NEEDED (|& $(printf "/lib/$triplet/%s " libdl.so.2 libpthread.so.0 librt.so.1)|" "$new/usr/lib/$triplet/libc.so"
  rm -rf "$sysroot" && touch "$new" && mv "$new" "$sysroot"
}

# The compilers that see this tree. Nothing of a library that goes inside is seen from outside.
write_compiler() { # write_compiler NAME COMPILER [OPTION]
  mkdir -p "$at/bin"
  cat >"$at/bin/$1" <<WRAPPER
#!/bin/sh
exec '$2' --sysroot='$sysroot' -B'$sysroot/usr/lib/$triplet/' -L'$sysroot/usr/lib/$triplet' ${3-} -static-libgcc \\
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

# ---- The build
write_machine_file() {
  local cache=''
  ! command -v ccache >/dev/null || cache="'$source/common/tools/cache/ccache', "
  printf "[binaries]\ncpp = [%s]\ncuda = ['%s', '-ccbin', '%s']\n" "$cache'$at/bin/g++'" "$nvcc" "$at/bin/g++"
}
# PTX for the oldest GPU that CUDA 13 knows: the runners' own kernels run on every GPU.
build_tools() {
  write_machine_file >"$at/machine.new"
  if [[ ! -f $build/build.ninja ]] || ! cmp -s "$at/machine.new" "$at/machine.ini"; then
    rm -rf "$build"
    mv "$at/machine.new" "$at/machine.ini"
    meson setup --native-file "$at/machine.ini" -Dtests=false -Dprefer_static=true -Dsimulator_isas=portable,avx2,avx512 -Dgpu_arch=75,90 "$build" "$source"
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
    if [[ $name = *.o ]]; then strip -g -o "$packed/$name" "$build/$name"; else strip -o "$packed/$name" "$build/$name"; fi
    newer=$(objdump -T "$packed/$name" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1) || true
    at_least "$PREBUILT_GLIBC" "${newer#GLIBC_}" || fail "$name needs $newer."
  done
  chmod -R u=rwX,go=rX "$packed"
  (cd "$packed" && find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum) >"$edition/prebuilt/$arch.tools.sha256"
  tar -C "$packed" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . | gzip -9n >"$edition/prebuilt/$arch.tar.gz"
  (cd "$edition" && { list_sources && printf 'prebuilt/%s\0' "$arch.tar.gz" "$arch.tools.sha256"; } | LC_ALL=C sort -z | xargs -0 sha256sum) >"$at/sha256"
  mv "$at/sha256" "$edition/prebuilt/$arch.sha256"
}

rm -rf "$edition/prebuilt" && mkdir -p "$edition/prebuilt" "$at"
newest=$(stat -c %Y "$here"/* | sort -n | tail -n 1)
[[ -d $sysroot && $(stat -c %Y "$sysroot") -ge $newest ]] || make_sysroot
write_compiler gcc gcc
write_compiler g++ "$cxx" -static-libstdc++
add_newer_names
make_fmt
build_tools
pack_tools
