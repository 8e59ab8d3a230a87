#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make_tools.sh EDITION WORK: builds the tools of the edition in the folder EDITION so that they run on every Linux with glibc 2.31 or
# later, and puts them into EDITION/prebuilt, with digests (common/tools/prebuilt.sh uses them). Called by release.py, which has copied the
# edition to WORK/source. WORK also keeps what a later call needs again: the old glibc, and what has been built.
#
# This machine's g++ compiles, with the headers and libraries of Debian 11's glibc (a "sysroot"); its own libstdc++, libgcc, fmt, zstd, lz4,
# libelf, zlib and libseccomp are linked statically. What these need of a newer glibc is in newer_names.c. What students' objects are linked
# with (the runners' fixed parts) has C++ names that every libstdc++ since GCC 5 has, and types with the layout of GCC 11's; libraries for
# students' programs export C names.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
edition=$1 work=$2 source=$2/source build=$2/build arch=$(uname -m)
triplet=$(g++ -dumpmachine)
tools=$here/../../../common/tools
export CCACHE_COMPILERCHECK=content # g++ is a script that is written anew
LAB_ROOT=$edition LAB_BUILD=$work LAB_TOOLS=''
source "$tools/probe.sh"
source "$tools/toolkit.sh"

fail() { printf '%s\n' "$*" >&2 && exit 1; }

[[ $arch = x86_64 || $arch = aarch64 ]] || fail "There are no prebuilt tools for $arch."
cxx=$(find_cxx) && nvcc=$(find_nvcc) && at_least "$(nvcc_version "$nvcc")" 13 ||
  fail "Prebuilt tools need CUDA 13 and a g++ that it takes: unset LAB_CUDA, or set CUDA_HOME."

# ---- The old glibc, with this machine's other libraries beside it
sysroot=$work/glibc-$arch
make_sysroot() {
  local new=$sysroot.new deb name
  rm -rf "$new" && mkdir -p "$new/usr/bin" "$work/packages"
  download_packages "$work/packages" bullseye main libc6 libc6-dev
  for deb in "$work"/packages/*.deb; do dpkg -x "$deb" "$new"; done
  # Links lead out of the tree.
  ln -sfnr "$(find "$new/lib/$triplet" -name 'ld-2.*.so')" "$(find "$new/lib64" "$new/lib" -maxdepth 1 -name 'ld-linux-*')"
  find "$new" -xtype l -lname '/*' | while IFS= read -r name; do ln -sfnr "$new$(readlink "$name")" "$name"; done
  # The kernel's headers and its system calls' numbers may be newer.
  for name in linux asm-generic "$triplet/asm" "$triplet/bits/syscall.h" c++ "$triplet/c++" fmt CLI nlohmann stb elfutils libelf.h gelf.h nlist.h zstd.h zstd_errors.h lz4.h lz4hc.h lz4frame.h \
    seccomp.h seccomp-syscalls.h; do
    [[ ! -e /usr/include/$name ]] || ln -sfn "/usr/include/$name" "$new/usr/include/$name"
  done
  for name in zstd lz4 seccomp elf z; do
    [[ -f /usr/lib/$triplet/lib$name.a ]] || fail "There is no lib$name.a, with which prebuilt tools are linked."
    ln -sfn "/usr/lib/$triplet/lib$name.a" "$new/usr/lib/$triplet/"
  done
  # What was in libraries of its own before glibc 2.34.
  sed -i "s|AS_NEEDED (|& $(printf "/lib/$triplet/%s " libdl.so.2 libpthread.so.0 librt.so.1)|" "$new/usr/lib/$triplet/libc.so"
  gcc --sysroot="$new" -O2 -fPIC -c "$here/newer_names.c" -o "$work/newer_names.o"
  ar r "$new/usr/lib/$triplet/libc_nonshared.a" "$work/newer_names.o"
  rm -rf "$sysroot" && mv "$new" "$sysroot"
}
newest=$(stat -c %Y "$here"/* | sort -n | tail -n 1)
[[ -d $sysroot && $(stat -c %Y "$sysroot") -ge $newest ]] || make_sysroot

# The compiler that sees this tree. Nothing of a library that goes inside is seen from outside.
mkdir -p "$work/bin"
cat >"$work/bin/g++" <<WRAPPER
#!/bin/sh
exec '$cxx' --sysroot='$sysroot' -B'$sysroot/usr/lib/$triplet/' -L'$sysroot/usr/lib/$triplet' -static-libstdc++ -static-libgcc \\
  -Wl,--exclude-libs,ALL -ffile-prefix-map='$source'=. "\$@"
WRAPPER
chmod +x "$work/bin/g++"
# fmt is a shared library alone: its code, compiled as headers only.
fmt=$sysroot/usr/lib/$triplet/libfmt.a
if [[ ! $fmt -nt $here/fmt.cpp || /usr/include/fmt/core.h -nt $fmt ]]; then
  "$work/bin/g++" -std=c++20 -O2 -fPIC -DFMT_HEADER_ONLY -fkeep-inline-functions -ffunction-sections \
    -I"$source/common/simulator" -c "$here/fmt.cpp" -o "$work/fmt.o"
  rm -f "$fmt" && ar rcs "$fmt" "$work/fmt.o"
fi

# ---- The build
cache=''
! command -v ccache >/dev/null || cache="'$source/common/tools/cache/ccache', "
cat >"$work/native.new" <<NATIVE
[binaries]
cpp = [$cache'$work/bin/g++']
cuda = ['$nvcc', '-ccbin', '$work/bin/g++']
NATIVE
isas=portable
[[ $arch != x86_64 ]] || isas=portable,avx2,avx512
# PTX for the oldest GPU that CUDA 13 knows: the runners' own kernels run on every GPU.
if [[ ! -f $build/build.ninja ]] || ! cmp -s "$work/native.new" "$work/native.ini"; then
  rm -rf "$build"
  mv "$work/native.new" "$work/native.ini"
  meson setup --native-file "$work/native.ini" -Dtests=false -Dprefer_static=true "-Dsimulator_isas=$isas" -Dgpu_arch=75,90 "$build" "$source"
fi
ninja -C "$build" tools parts_of_labs debugger simulators

# ---- What is packed
list_tools() {
  printf '%s\n' grader/labcli grader/sandbox_enter common/harness/remote/simulated_device common/harness/debugging/liblab_case.so
  (cd "$build" && printf '%s\n' common/harness/remote/*.so.* common/simulator/{cudart,debug}/*.so.* common/harness/runner/fixed_part_*.o |
    grep -v '\.p$\|\.symbols$')
}
packed=$work/packed out=$edition/prebuilt
rm -rf "$packed" "$out" && mkdir -p "$packed" "$out"
list_tools | while IFS= read -r name; do
  mkdir -p "$packed/${name%/*}"
  if [[ $name = *.o ]]; then strip -g -o "$packed/$name" "$build/$name"; else strip -o "$packed/$name" "$build/$name"; fi
  newer=$(objdump -T "$packed/$name" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1) || true
  at_least 2.31 "${newer#GLIBC_}" || fail "$name needs $newer."
done
chmod -R u=rwX,go=rX "$packed"
(cd "$packed" && find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum) >"$out/$arch.tools.sha256"
tar -C "$packed" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - . | gzip -9n >"$out/$arch.tar.gz"
source "$tools/prebuilt.sh"
(cd "$edition" && { list_sources && printf 'prebuilt/%s\0' "$arch.tar.gz" "$arch.tools.sha256"; } | LC_ALL=C sort -z | xargs -0 sha256sum) >"$work/sha256"
mv "$work/sha256" "$out/$arch.sha256"
