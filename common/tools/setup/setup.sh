#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches what is missing, in this order, and configures the build folder: Debian packages, a Python environment with the
# pinned Meson and Ninja, the CUDA toolkit's Python wheels when there is no nvcc. Called by `lab`; asks nothing; can be
# repeated. Where a step can't be done it takes what is there, and otherwise says which command to run.
# `setup.sh --package NAME` only installs a package that one command needs, where it may.
set -euo pipefail
tools=$LAB_ROOT/common/tools
source "$tools/setup/probe.sh"
source "$tools/setup/step.sh"
source "$tools/setup/toolkit.sh"
source "$tools/setup/host_isa.sh"
source "$tools/setup/prebuilt.sh"

fail() {
  say "$1"
  shift
  (($# == 0)) || printf '    %s\n' "$@" >&2
  exit 1
}

# need_space FOLDER MIB PURPOSE: ends the set-up where less is free.
need_space() {
  local free
  free=$(free_mib "$1")
  [[ ! $free =~ ^[0-9]+$ ]] || ((free >= $2)) ||
    fail "Only $free MiB are free where $1 is, and about $2 MiB are needed for $3. Free some, or choose other folders:" \
      "${4:-LAB_BUILD=/some/folder LAB_VENV=/some/other} ./lab …"
}

# After a step that failed: ends the set-up where the step has said all there is to say.
stop_if_explained() { case $failure_cause in disk | memory | certificate | proxy) exit 1 ;; esac; }

# ---- Debian packages -------------------------------------------------------------------------------------------
apt_update() { $1 apt-get update -o Acquire::Retries=3; }

# Never asks apt-get for a name that it does not know, since it would take it for a regular expression.
apt_install() {
  local prefix=$1 package
  shift
  export DEBIAN_FRONTEND=noninteractive
  local install=(apt-get install -y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@")
  [[ -z $(unknown_packages "$@") ]] && $prefix "${install[@]}" && return 0
  apt_update "$prefix" || return 1
  for package in $(unknown_packages "$@"); do echo "No source of packages here has $package." && return 1; done
  $prefix "${install[@]}"
}

# Without root: unpacks packages, and those that apt would install with them, into .deps/.
apt_unpack() {
  local download=$DEPS/download needed deb
  needed=$(apt-get install --simulate -o Debug::NoLocking=1 --no-install-recommends "$@") &&
    needed=$(sed -n 's/^Inst \([^ ]*\).*/\1/p' <<<"$needed") && [[ -n $needed ]] || return 1
  mkdir -p "$download" "$DEPS/pkgconfig" || return 1
  # shellcheck disable=SC2086
  (cd "$download" && apt-get download -o Acquire::Retries=3 $needed) || return 1
  for deb in "$download"/*.deb; do dpkg -x "$deb" "$DEPS" || return 1; done
  rm -rf "$download"
  mend_links && mend_pc_files && keep_usable
}

# Links to files of packages that are installed, or that lie elsewhere in .deps.
mend_links() {
  local link target folder
  while IFS= read -r -d '' link; do
    target=$(readlink "$link") folder=$(dirname "${link#"$DEPS"}")
    [[ $target = /* ]] || target=$folder/$target
    if [[ -e $DEPS$target ]]; then ln -sfnr "$DEPS$target" "$link"; elif [[ -e $target ]]; then ln -sfn "$target" "$link"; fi
  done < <(find "$DEPS" -xtype l -print0)
}

# pkg-config writes a backslash before each byte of a path that is no ASCII, with which Meson can't read it. So paths lead through
# the link "deps" in the build folder, in which compilers run. A folder's own headers and libraries are found without options only in /usr.
mend_pc_files() {
  local file there triplet
  ln -sfn "$DEPS" "$LAB_BUILD/deps" && triplet=$("$(find_cxx)" -dumpmachine) && triplet=${triplet/-pc-/-} || return 1
  while IFS= read -r -d '' file; do
    there=deps${file#"$DEPS"}
    sed -e "s|\${pcfiledir}|${there%/*}|g" -e 's|\(^[A-Za-z_]* *= *\)/usr|\1deps/usr|; s|-\([IL]\)/usr|-\1deps/usr|g' \
      -e "s|^Cflags:.*|& -Ideps/usr/include -Ideps/usr/include/$triplet|; s|^Libs:|& -Ldeps/usr/lib/$triplet|" \
      "$file" >"$DEPS/pkgconfig/${file##*/}" || return 1
    grep -q '^Cflags:' "$file" || echo "Cflags: -Ideps/usr/include -Ideps/usr/include/$triplet" >>"$DEPS/pkgconfig/${file##*/}"
  done < <(find "$DEPS/usr" -name '*.pc' -print0)
}

# A library that no program can be compiled and linked with counts as missing.
keep_usable() {
  local row name header
  for row in "${LIBRARIES[@]}" "${TEST_LIBRARIES[@]}"; do
    read -r name _ header _ <<<"$row"
    [[ -e $DEPS/pkgconfig/$name.pc ]] || continue
    links_with "$name" "$header" || { echo "$name can't be used." && rm "$DEPS/pkgconfig/$name.pc"; }
  done
}

# Without pkg-config no library can be seen, so all are asked for then.
find_missing() {
  mapfile -t programs < <(missing_programs)
  mapfile -t libraries < <(missing_libraries "${LIBRARIES[@]}")
  mapfile -t for_safety < <(command -v bwrap >/dev/null || echo bubblewrap)
  mapfile -t for_tests < <(missing_libraries "${TEST_LIBRARIES[@]}")
  missing=("${programs[@]}" "${libraries[@]}" "${for_safety[@]}" "${for_tests[@]}")
}

install_packages() {
  local programs libraries for_safety for_tests prefix missing
  find_missing
  if command -v apt-get >/dev/null && prefix=$(install_prefix); then
    # Another g++ is missing, and the lists, perhaps old ones, have none.
    if ! find_cxx >/dev/null && ! gxx_package >/dev/null && step 'Fetching the lists of packages' apt_update "$prefix"; then find_missing; fi
    ((${#missing[@]} > 0)) || return 0
    step "Installing ${missing[*]}" apt_install "$prefix" "${missing[@]}" && return 0
    stop_if_explained
  elif ((${#missing[@]} == 0)); then
    return 0
  elif command -v apt-get >/dev/null && ((${#programs[@]} == 0)) && find_cxx >/dev/null; then
    step "Unpacking into .deps, as installing needs root: ${missing[*]}" apt_unpack "${missing[@]}" || stop_if_explained
    find_missing
    ((${#missing[@]} > 0)) || return 0
  fi
  if ((${#programs[@]} + ${#libraries[@]} == 0)); then
    ((${#for_safety[@]} == 0)) || say "Going on without ${for_safety[*]}: student code is isolated less well (./lab doctor says how)."
    ((${#for_tests[@]} == 0)) || say "Going on without ${for_tests[*]}: grading works, \"./lab test\" does not."
  elif command -v apt-get >/dev/null; then
    fail 'Some packages are missing. Please run this, or ask an administrator to, then try again:' \
      "sudo apt-get install -y ${missing[*]}"
  else
    fail "Some packages are missing. Please install what Debian calls so, then try again:" "${missing[*]}"
  fi
}

# ---- Python environment ----------------------------------------------------------------------------------------
pip_install() { # pip_install FILE [OPTION]
  "$LAB_VENV/bin/python" -m pip install --disable-pip-version-check --no-input --retries 1 --timeout 10 "${@:2}" -r "$1"
}

# An interrupted set-up leaves an environment without pip; `venv` completes it.
make_python() { "$LAB_VENV/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$LAB_VENV"; }

# pip's own scripts hold the path of the environment, so these take their place: they work wherever the folder is moved.
write_scripts() {
  local name module
  while read -r name module; do
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec "$(dirname "$0")/python" -m %s "$@"\n' "$module" >"$LAB_VENV/bin/$name.new" &&
      chmod +x "$LAB_VENV/bin/$name.new" && mv "$LAB_VENV/bin/$name.new" "$LAB_VENV/bin/$name" || return 1
  done < <(printf '%s\n' 'meson mesonbuild.mesonmain' 'pip pip')
}

has_tools() {
  cmp -s "$tools/setup/requirements.txt" "$LAB_VENV/requirements.txt" && "$LAB_VENV/bin/meson" --version >/dev/null 2>&1 &&
    "$LAB_VENV/bin/ninja" --version >/dev/null 2>&1
}

# What is there but does not run was made for another machine, or is incomplete: pip has to fetch it again.
make_venv() {
  local again=()
  ! cmp -s "$tools/setup/requirements.txt" "$LAB_VENV/requirements.txt" || again=(--force-reinstall)
  make_python && pip_install "$tools/setup/requirements.txt" "${again[@]}" && write_scripts &&
    cp "$tools/setup/requirements.txt" "$LAB_VENV/requirements.txt"
}

install_meson() {
  ! has_tools || return 0
  # An environment that has been moved.
  if "$LAB_VENV/bin/python" -m mesonbuild.mesonmain --version >/dev/null 2>&1 && write_scripts && has_tools; then return 0; fi
  need_space "$LAB_VENV" "$VENV_MIB" 'the Python environment'
  need_space "${TMPDIR:-/tmp}" 20 "pip's temporary files" 'TMPDIR=/some/folder'
  if step 'Making the Python environment (Meson, Ninja)' make_venv; then return 0; fi
  rm -f "$LAB_VENV/requirements.txt"
  if find_meson >/dev/null && find_ninja >/dev/null; then
    say "The pinned Meson can't be had; going on with $(find_meson), version $("$(find_meson)" --version)."
    return 0
  fi
  stop_if_explained
  local prefix
  if command -v apt-get >/dev/null && prefix=$(install_prefix); then
    step 'Installing meson and ninja-build instead' apt_install "$prefix" meson ninja-build && return 0
    stop_if_explained
  fi
  fail 'Neither the Python index nor a Meson of this system can be had. Please run, then try again:' \
    'sudo apt-get install -y meson ninja-build'
}

# ---- Build folder ----------------------------------------------------------------------------------------------
gpu_arch() { gpus | cut -d, -f2 | tr -d ' .' | sort -un | paste -sd, || true; }

# Tells Meson which programs to use.
native_file() {
  local cuda cpp ccache=''
  quoted() { printf "'%s'" "${1//\'/\\\'}"; }
  cuda=$(quoted "$nvcc") cpp=$(quoted "$host_cxx")
  ! command -v ccache >/dev/null || { ccache="$(quoted "$tools/cache/ccache"), " && cpp=$ccache$cpp; }
  printf "[binaries]\ncpp = [%s]\ncuda = [%s, '-ccbin', %s]\n" "$cpp" "$ccache$cuda" "$(quoted "$cxx")"
}

# LAB_WERROR=1: warnings are errors, for CI and developers. Without it, no warning of another compiler stops a build.
check_werror() {
  [[ ${LAB_WERROR:-0} = [01] ]] || fail "LAB_WERROR is \"$LAB_WERROR\"; it can be 1 (warnings are errors) or 0."
}

# What the simulator is built for: this machine, and those that have used this build folder before.
simulator_isas() {
  local isas
  isas=$(sed -n 's/^STAMP_ISAS=//p' "$LAB_BUILD/.lab-stamp" 2>/dev/null | tr ',' '\n') || true
  printf '%s\n' $isas "$(host_isa)" | sort -u | paste -sd,
}

# Anew whenever a program, the GPU's generation or the checkout's place has changed; otherwise Meson's own check is enough.
configure() {
  local arch wanted
  cd "$LAB_ROOT" || return 1 # Meson's messages give paths from here
  arch=$(gpu_arch)
  local options=(--native-file "$LAB_BUILD/lab-native.ini" ${arch:+"-Dgpu_arch=$arch"})
  ((${LAB_WERROR:-0} == 0)) || options+=(-Dwerror=true)
  [[ -z $(missing_libraries "${TEST_LIBRARIES[@]}") ]] || options+=(-Dtests=false)
  wanted=$(native_file && printf '%s\n' "${options[@]}" "$LAB_ROOT" "$("$meson" --version)")
  if [[ -f $LAB_BUILD/build.ninja && $wanted = "$(cat "$LAB_BUILD/lab-configured" 2>/dev/null)" ]]; then
    "$meson" setup --reconfigure "-Dsimulator_isas=$isas" "$LAB_BUILD" "$LAB_ROOT"
    return
  fi
  (cd "$LAB_BUILD" && rm -rf meson-info meson-logs meson-private build.ninja .ninja_deps .ninja_log compile_commands.json \
    common labs solutions grader subprojects)
  native_file >"$LAB_BUILD/lab-native.ini"
  NINJA=$ninja "$meson" setup "${options[@]}" "-Dsimulator_isas=$isas" "$LAB_BUILD" "$LAB_ROOT" && printf '%s\n' "$wanted" >"$LAB_BUILD/lab-configured"
}

# Of the bytes that a path may hold, these make nvcc, ninja or Meson fail. (Spaces and letters of any script do not.)
check_path() { # check_path PATH WHAT
  local found
  found=$(grep -oE '["$\\,|`[:cntrl:]]' <<<"$1" | head -n 1) || true
  if [[ $1 = *$'\n'* ]]; then
    found='a line break'
  elif ! iconv -f UTF-8 -t UTF-8 <<<"$1" >/dev/null 2>&1; then
    found='bytes that are no UTF-8'
  elif [[ -n $found ]]; then
    [[ $found != [[:cntrl:]] ]] || found=$(printf '%q' "$found")
    found="the character $found"
  else
    return 0
  fi
  fail "The path of $2 holds $found, with which the compilers can't work: $(printf '%q' "$1")" "${3-Rename that folder, or move the checkout, then try again.}"
}

# ---- Prebuilt tools ----------------------------------------------------------------------------------------------
# of_no_use REASON: ends a set-up with them; `lab` goes on with the sources.
of_no_use() {
  say "The prebuilt tools can't be used, so they are built from the sources: $1."
  printf '%s\n' "$1" >"$LAB_BUILD/unusable"
  exit "$TOOLS_OF_NO_USE"
}

# What can be seen before anything is fetched.
check_tools() {
  local glibc
  glibc=$(c_library)
  rm -f "$LAB_BUILD/unusable"
  are_of_these_sources || of_no_use 'files of this checkout are not those that they were built from'
  [[ -n $glibc ]] && at_least "$glibc" "$PREBUILT_GLIBC" || of_no_use "they need glibc $PREBUILT_GLIBC or later, and this is ${glibc:-another C library}"
  find_nvcc >/dev/null || at_least "$(wanted_cuda)" 13 || of_no_use "they are for CUDA 13, and $([[ -n ${LAB_CUDA-} ]] && echo LAB_CUDA || echo "the GPU's driver") asks for $(wanted_cuda)"
}

# The unpacked tools are read-only, so that they are not changed by mistake. Each graded run checks their digests
# again.
unpack_tools() {
  (cd "$LAB_BUILD" && rm -rf common grader toolchain.txt) && tar -xzf "$PREBUILT.tar.gz" -C "$LAB_BUILD" --no-same-owner &&
    are_unchanged && find "$LAB_BUILD"/{common,grader} -type f -exec chmod a-w {} + && write_toolchain >"$LAB_BUILD/toolchain.txt" &&
    "$LAB_BUILD/grader/labcli" list
}

# What the grader compiles students' files with: grader/layout.hpp. (A build has Meson write it into the program.)
write_toolchain() {
  local arch cuda folder
  # sed reads to the end: a closed pipe would end nvcc by a signal, and with it this function.
  cuda=$("$nvcc" --dryrun -E -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p') && cuda=$(cd "$cuda" && pwd) || return 1
  printf 'nvcc %s\nnvcc -ccbin\nnvcc %s\ncxx %s\n' "$nvcc" "$cxx" "$cxx"
  arch=$(gpu_arch)
  printf 'arch %s\n' $(tr ',' ' ' <<<"${arch:-$DEFAULT_ARCH}")
  printf 'folder %s\n' "$cuda" "$(dirname "$(dirname "$nvcc")")" "$(dirname "$(dirname "$cxx")")"
  for folder in lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib; do
    [[ ! -f $cuda/$folder/libcudart.so ]] || { printf 'libraries %s\n' "$cuda/$folder" && break; }
  done
}

check_path "$LAB_ROOT" 'the checkout'
check_path "$LAB_BUILD" 'the build folder' 'LAB_BUILD=/some/folder ./lab …'
check_path "$LAB_VENV" 'the Python environment' 'LAB_VENV=/some/folder ./lab …'
mkdir -p "$LAB_BUILD" 2>/dev/null && [[ -w $LAB_BUILD ]] ||
  fail "Can't write to $LAB_BUILD. Choose folders that you may write to:" \
    "LAB_BUILD=~/lab-build LAB_VENV=~/lab-venv ./lab …"
[[ -f $LAB_BUILD/build.ninja || -n $LAB_TOOLS ]] || need_space "$LAB_BUILD" "$MIN_FREE_MIB" 'the build'
: >"$LAB_LOG"
failure_cause=''
if [[ ${1-} = --package ]]; then
  command -v apt-get >/dev/null && prefix=$(install_prefix) && step "Installing $2" apt_install "$prefix" "$2"
  exit
fi
# Several checkouts may share an environment.
if mkdir -p "$LAB_VENV" 2>/dev/null && [[ -w $LAB_VENV ]]; then take_lock "$LAB_VENV/lab.lock"; fi
[[ ! -d $DEPS ]] || ln -sfn "$DEPS" "$LAB_BUILD/deps"
check_werror
[[ -z $LAB_TOOLS ]] || check_tools
refuse_cuda
install_packages
cxx=$(find_cxx) || {
  needed="g++ $MIN_GCC to $(max_gcc) is needed, which $(name_of_cuda) takes"
  package=$(gxx_package) || fail "$needed, and no source of packages here has one. Install one, then say which:" 'CXX=/path/to/g++ ./lab …'
  fail "$needed. Install one, then say which:" "sudo apt-get install -y $package; CXX=$package ./lab …"
}
host_cxx=$(find_host_cxx)
[[ -z ${CXX-} || $host_cxx = "$(command -v "$CXX")" ]] ||
  say "CXX is $CXX, but $(name_of_cuda) takes g++ $MIN_GCC to $(max_gcc): going on with $cxx."
[[ -n $LAB_TOOLS ]] || install_meson
install_toolkit
nvcc=$(find_nvcc)
if [[ -n $LAB_TOOLS ]]; then
  need_space "$LAB_BUILD" "$TOOLS_MIB" 'the prebuilt tools'
  step --quiet 'Unpacking the tools' unpack_tools || of_no_use 'they do not run here, or their digests are others than the edition says'
  ninja='' isas=''
else
  meson=$(find_meson) ninja=$(find_ninja) isas=$(simulator_isas)
  PATH=$(dirname "$ninja"):$PATH  # the build's own scripts look for it, too
  step 'Configuring the build' configure
fi

{
  printf 'STAMP_FOLDERS=%q\n' "$LAB_ROOT:$LAB_BUILD:$LAB_VENV"
  printf 'STAMP_PATH=%q\n' "$LAB_VENV/bin:${ninja:+$(dirname "$ninja"):}$(dirname "$nvcc"):$DEPS/usr/bin"
  printf 'NVCC=%q\n' "$nvcc"
  printf 'STAMP_WERROR=%q\n' "${LAB_WERROR:-0}"
  printf 'STAMP_ISAS=%s\n' "$isas"
  [[ -z $LAB_TOOLS ]] || printf 'STAMP_TOOLS=%q\n' "$(digest_of_tools)"
  printf 'STAMP_CUDA=%q\n' "$(nvcc_version "$nvcc")"
  printf 'CUDA_HOME=%q\n' "$(cd "$(dirname "$nvcc")/.." && pwd)"
} >"$LAB_BUILD/.lab-stamp"
