#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches what is missing, in this order, and configures the build folder: Debian packages, a Python environment with the
# pinned Meson and Ninja, the CUDA toolkit's Python wheels when there is no nvcc. Called by `lab`; asks nothing; can be
# repeated. Where a step can't be done it takes what is there, and otherwise says which command to run.
set -euo pipefail
tools=$LAB_ROOT/common/tools
source "$tools/probe.sh"
source "$tools/step.sh"
source "$tools/toolkit.sh"
source "$tools/host_isa.sh"

fail() {
  say "$1"
  shift
  (($# == 0)) || printf '    %s\n' "$@" >&2
  exit 1
}

# ---- Debian packages -------------------------------------------------------------------------------------------
apt_install() {
  local prefix=$1
  shift
  export DEBIAN_FRONTEND=noninteractive
  local install=(apt-get install -y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@")
  $prefix "${install[@]}" || { $prefix apt-get update && $prefix "${install[@]}"; }
}

# Without root: unpacks the libraries' packages, and those they need at once, into .deps/ and points their .pc files there.
apt_unpack() {
  local download=$DEPS/download needed deb
  mkdir -p "$download" "$DEPS/pkgconfig" || return 1
  needed=$(apt-cache depends --no-recommends --no-suggests "$@" | sed -n 's/^ *Depends: \(lib[a-z0-9.+-]*\)$/\1/p' | sort -u)
  # shellcheck disable=SC2086
  (cd "$download" && apt-get download -o Acquire::Retries=3 "$@" $needed) || return 1
  for deb in "$download"/*.deb; do dpkg -x "$deb" "$DEPS" || return 1; done
  find "$DEPS/usr" -name '*.pc' -exec cp {} "$DEPS/pkgconfig/" \; &&
    sed -i "s|\([=IL]\)/usr|\1${DEPS// /\\\\ }/usr|" "$DEPS"/pkgconfig/*.pc
}

# Without pkg-config no library can be seen, so all are asked for then.
install_packages() {
  local programs libraries for_safety for_tests prefix missing
  mapfile -t programs < <(missing_programs)
  mapfile -t libraries < <(missing_libraries "${LIBRARIES[@]}")
  mapfile -t for_safety < <(missing_safety)
  mapfile -t for_tests < <(missing_libraries "${TEST_LIBRARIES[@]}")
  missing=("${programs[@]}" "${libraries[@]}" "${for_safety[@]}" "${for_tests[@]}")
  ((${#missing[@]} > 0)) || return 0
  if command -v apt-get >/dev/null; then
    if prefix=$(install_prefix); then
      step "Installing ${missing[*]}" apt_install "$prefix" "${missing[@]}" && return 0
    elif ((${#programs[@]} == 0)); then
      step "Unpacking into .deps, as installing needs root: ${missing[*]}" apt_unpack "${missing[@]}" && return 0
    fi
  fi
  if ((${#programs[@]} + ${#libraries[@]} == 0)); then
    ((${#for_safety[@]} == 0)) || say "Going on without ${for_safety[*]}: student code is shut in less (./lab doctor says how far)."
    ((${#for_tests[@]} == 0)) || say "Going on without ${for_tests[*]}: grading works, \"./lab test\" does not."
  elif command -v apt-get >/dev/null; then
    fail 'Some packages are missing. Please run this, or have it run by who may, then try again:' \
      "sudo apt-get install -y ${missing[*]}"
  else
    fail "Some packages are missing. Please install what Debian calls so, then try again:" "${missing[*]}"
  fi
}

# ---- Python environment ----------------------------------------------------------------------------------------
pip_install() {
  "$LAB_VENV/bin/python" -m pip install --disable-pip-version-check --no-input --retries 1 --timeout 10 -r "$1"
}

# Chained by hand: `set -e` is off in a command whose failure is looked at.
# Whoever ends a set-up early leaves an environment without pip: that one is made again, over what is there.
make_python() { "$LAB_VENV/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$LAB_VENV"; }

make_venv() {
  make_python && pip_install "$tools/requirements.txt" &&
    cp "$tools/requirements.txt" "$LAB_VENV/requirements.txt"
}

install_meson() {
  cmp -s "$tools/requirements.txt" "$LAB_VENV/requirements.txt" && "$LAB_VENV/bin/meson" --version >/dev/null 2>&1 && return 0
  if step 'Making the Python environment (Meson, Ninja)' make_venv; then return 0; fi
  rm -f "$LAB_VENV/requirements.txt"
  if find_meson >/dev/null && find_ninja >/dev/null; then
    say "The pinned Meson can't be had; going on with $(find_meson), version $("$(find_meson)" --version)."
    return 0
  fi
  local prefix
  if command -v apt-get >/dev/null && prefix=$(install_prefix); then
    step 'Installing meson and ninja-build instead' apt_install "$prefix" meson ninja-build && return 0
  fi
  fail 'Neither the Python index nor a Meson of this system can be had. Please run, then try again:' \
    'sudo apt-get install -y meson ninja-build'
}

# ---- Build folder ----------------------------------------------------------------------------------------------
gpu_arch() { gpus | cut -d, -f2 | tr -d ' .' | sort -un | paste -sd, || true; }

# Tells Meson which programs to use. Meson before 1.4 does not ask nvcc for the headers that a .cu file includes; a small
# wrapper does.
native_file() {
  local cuda="'$nvcc'" cpp="'$host_cxx'" ccache=''
  ! ccache=$(command -v ccache) || ccache="'$ccache', " cpp="'$tools/cache/ccache', $cpp"
  if at_least "$("$meson" --version)" 1.4; then cuda="$ccache$cuda"; else cuda="'$tools/nvcc_with_depfile', $cuda"; fi
  printf "[binaries]\ncpp = [%s]\ncuda = [%s, '-ccbin', '%s']\n" "$cpp" "$cuda" "$cxx"
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

mkdir -p "$LAB_BUILD" 2>/dev/null && [[ -w $LAB_BUILD ]] ||
  fail "Can't write to $LAB_BUILD. Choose folders that you may write to:" \
    "LAB_BUILD=~/lab-build LAB_VENV=~/lab-venv ./lab …"
free=$(free_mib "$LAB_BUILD")
[[ -f $LAB_BUILD/build.ninja ]] || ((free >= MIN_FREE_MIB)) ||
  fail "Only $free MiB are free where $LAB_BUILD is, and $MIN_FREE_MIB are needed. Free some, or choose other folders:" \
    "LAB_BUILD=/some/folder LAB_VENV=/some/other ./lab …"
: >"$LAB_LOG"
check_werror
refuse_cuda
install_packages
cxx=$(find_cxx) || fail "g++ $MIN_GCC to $(max_gcc) is needed, which $(name_of_cuda) takes. Install one, then say which:" \
  "sudo apt-get install -y $(gxx_package); CXX=$(gxx_package) ./lab …"
host_cxx=$(find_host_cxx)
[[ -z ${CXX-} || $host_cxx = "$(command -v "$CXX")" ]] ||
  say "CXX is $CXX, but $(name_of_cuda) takes g++ $MIN_GCC to $(max_gcc): going on with $cxx."
install_meson
install_toolkit
meson=$(find_meson) ninja=$(find_ninja) nvcc=$(find_nvcc) isas=$(simulator_isas)
PATH=$(dirname "$ninja"):$PATH  # the build's own scripts look for it, too
step 'Configuring the build' configure

{
  printf 'STAMP_ROOT=%q\n' "$LAB_ROOT"
  printf 'STAMP_PATH=%q\n' "$LAB_VENV/bin:$(dirname "$ninja"):$(dirname "$nvcc"):$DEPS/usr/bin"
  printf 'NVCC=%q\n' "$nvcc"
  printf 'STAMP_WERROR=%q\n' "${LAB_WERROR:-0}"
  printf 'STAMP_ISAS=%s\n' "$isas"
  printf 'STAMP_CUDA=%q\n' "$(nvcc_version "$nvcc")"
  printf 'CUDA_HOME=%q\n' "$(cd "$(dirname "$nvcc")/.." && pwd)"
} >"$LAB_BUILD/.lab-stamp"
