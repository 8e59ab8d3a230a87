# SPDX-License-Identifier: MIT
# What is on this machine. Sourced by setup.sh, which then mends what it may, and by doctor.sh, which only tells.
# Every find_* prints what it found and returns 0, or returns 1. Nothing here writes anything, but for links_with.
# shellcheck shell=bash

MIN_GCC=12
MIN_CUDA=12
NEWEST_CUDA=13.5 # that was tried
MIN_DRIVER_FOR_13=580
MIN_FREE_MIB=2048 # of the build folder
VENV_MIB=60       # of the Python environment with Meson and Ninja
CUDA_MIB=300      # of the toolkit's wheels, unpacked
CUDA_DOWNLOAD_MIB=150
SYSTEM_CUDA=${SYSTEM_CUDA-/usr/local/cuda} # where installers put it
MIN_MESON=1.4 # older ones do not ask nvcc for the headers that a .cu file includes

# pkg-config name, Debian package, header, what for.
LIBRARIES=(
  'fmt libfmt-dev fmt/format.h text formatting'
  'CLI11 libcli11-dev CLI/CLI.hpp command line'
  'nlohmann_json nlohmann-json3-dev nlohmann/json.hpp reports'
  'libzstd libzstd-dev zstd.h compressed fat binaries'
  'liblz4 liblz4-dev lz4.h compressed fat binaries'
  'stb libstb-dev stb_image_write.h reading and writing PNG'
  'libseccomp libseccomp-dev seccomp.h the filter of system calls'
  'libelf libelf-dev gelf.h screening of object files'
)
# Without these the labs can be graded all the same.
TEST_LIBRARIES=(
  'gtest libgtest-dev gtest/gtest.h "./lab test" only'
  'gmock libgmock-dev gmock/gmock.h "./lab test" only'
)

# With prebuilt tools only students' files are compiled, and the tools are for CUDA 13.
TOOLS_MIB=80     # unpacked
DEFAULT_ARCH=90  # as in meson_options.txt
LAB_TOOLS=${LAB_TOOLS-} # set by lab
if [[ -n $LAB_TOOLS ]]; then MIN_GCC=11 MIN_CUDA=13 LIBRARIES=() TEST_LIBRARIES=(); fi

at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) = "$2" ]]; }

# The version of glibc, such as "2.36".
c_library() { getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2; }

# takes_c_library RELEASE: whether that CUDA compiles here. glibc 2.41 declares cospi and 2.42 rsqrt, and the headers of older
# toolkits declare them otherwise (crt/math_functions.h: its answers to __GLIBC_PREREQ came with CUDA 13.0 and 13.2).
takes_c_library() {
  local glibc
  glibc=$(c_library)
  [[ -n $glibc ]] || return 0
  { at_least "$1" 13.2 || ! at_least "$glibc" 2.42; } && { at_least "$1" 13 || ! at_least "$glibc" 2.41; }
}

# The newest g++ that nvcc takes: its own header says so. Before there is an nvcc, what that of the release to be fetched says.
max_gcc() {
  local nvcc version limit=''
  if nvcc=$(find_nvcc); then
    version=$(nvcc_version "$nvcc")
    limit=$(sed -n 's/^#if __GNUC__ > \([0-9]*\).*/\1/p' "$(dirname "$(readlink -f "$nvcc")")/../include/crt/host_config.h" 2>/dev/null)
  else
    version=$(wanted_cuda)
  fi
  if [[ -n $limit ]]; then
    printf '%s\n' "$limit"
  elif ! at_least "$version" 13; then
    printf '13\n'
  elif ! at_least "$version" 13.4; then
    printf '15\n'
  else
    printf '16\n'
  fi
}

# $CXX, g++, or another g++-N that this project and nvcc take.
find_cxx() {
  local cxx major max
  max=$(max_gcc)
  for cxx in "${CXX-}" g++ g++-13 g++-14 g++-15 g++-16 g++-12; do
    [[ -n $cxx ]] && command -v "$cxx" >/dev/null || continue
    major=$("$cxx" -dumpfullversion -dumpversion 2>/dev/null | cut -d. -f1) || continue
    if [[ $major =~ ^[0-9]+$ ]] && ((major >= MIN_GCC && major <= max)) && "$cxx" --version | grep -q 'Free Software'; then
      command -v "$cxx"
      return 0
    fi
  done
  return 1
}

# What compiles the host's code: $CXX where that is a clang, otherwise what nvcc uses.
find_host_cxx() {
  if [[ -n ${CXX-} ]] && command -v "$CXX" >/dev/null && "$CXX" --version | grep -q 'clang version'; then
    command -v "$CXX"
  else
    find_cxx
  fi
}

# Major and minor version: "13.0".
nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p'; }

usable_nvcc() {
  local version
  [[ -x $1 ]] && version=$(nvcc_version "$1") && [[ -n $version ]] && at_least "$version" "$MIN_CUDA" &&
    [[ -z ${LAB_CUDA-} || $version. = "$LAB_CUDA".* ]] && takes_c_library "$version"
}

# Which toolkit to fetch: LAB_CUDA ("12", "13" or a release such as "13.2"), 12 where the GPU's driver runs no other, 13 (which is
# 13.0, with which the handouts' counts are made), or the newest where this system's C library needs it.
wanted_cuda() {
  local driver wanted=${LAB_CUDA-}
  if [[ -z $wanted ]]; then
    driver=$(gpus | head -n 1 | cut -d, -f3 | tr -d ' ') || true
    wanted=13
    [[ -z $driver ]] || at_least "$driver" "$MIN_DRIVER_FOR_13" || ! takes_c_library 12 || wanted=12
  fi
  [[ $wanted != 13 ]] || takes_c_library 13.0 || wanted=$NEWEST_CUDA
  printf '%s\n' "$wanted"
}

# find_first TEST PATH…: the first of these programs that passes the test.
find_first() {
  local test=$1 program
  shift
  for program; do
    [[ -n $program ]] && "$test" "$program" || continue
    printf '%s\n' "$program"
    return 0
  done
  return 1
}

find_nvcc() {
  find_first usable_nvcc ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} ${CUDA_PATH:+"$CUDA_PATH/bin/nvcc"} "$(command -v nvcc || true)" \
    "$SYSTEM_CUDA/bin/nvcc" "$LAB_VENV/cuda/bin/nvcc" "$LAB_VENV/cuda12/bin/nvcc"
}

usable_meson() { [[ -x $1 ]] && at_least "$("$1" --version 2>/dev/null || echo 0)" "$MIN_MESON"; }
find_meson() { find_first usable_meson "$LAB_VENV/bin/meson" "$(command -v meson || true)"; }

tells_version() { "$1" --version >/dev/null 2>&1; }
find_ninja() { find_first tells_version "$LAB_VENV/bin/ninja" "$(command -v ninja || command -v ninja-build || true)"; }

# Folder with packages unpacked without root (setup.sh), in pkg-config's search path. Their .pc files lead to the link build/deps.
DEPS=$LAB_ROOT/.deps
PATH=$PATH:$DEPS/usr/bin
export PKG_CONFIG_PATH=$DEPS/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}

has_library() { command -v pkg-config >/dev/null && pkg-config --exists "$1"; }

# missing_libraries "${LIBRARIES[@]}": the Debian packages of those that are missing.
missing_libraries() {
  local row name package
  for row in "$@"; do
    read -r name package _ _ <<<"$row"
    has_library "$name" || printf '%s\n' "$package"
  done
}

has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

# Those of these packages that apt can install, each with its version. To apt, a name that no package has is a regular expression:
# "g++-15" stands for clang-15, too. So only what is listed under exactly this name counts.
known_packages() {
  LC_ALL=C apt-cache policy "$@" 2>/dev/null | awk -v names="$*" '
    BEGIN { n = split(names, name, " "); for (i = 1; i <= n; ++i) wanted[name[i] ":"] = name[i] }
    /^[^ ]/ { package = wanted[$0] }
    package != "" && $1 == "Candidate:" && $2 != "(none)" { print package, $2 }'
}

unknown_packages() {
  local known package
  known=$(known_packages "$@" | cut -d' ' -f1)
  for package in "$@"; do grep -qFx -- "$package" <<<"$known" || printf '%s\n' "$package"; done
}

# The Debian package with a g++ that nvcc takes: g++ itself, if there is none yet and its version fits, otherwise the newest one that apt
# knows. Fails where apt knows none. Without lists of packages, it is a guess.
gxx_package() {
  local version max known major='' present=''
  max=$(max_gcc)
  ! command -v g++ >/dev/null || present=1
  known=$(known_packages g++) || known=''
  if [[ -z $known ]]; then
    printf 'g++%s\n' "${present:+-$MIN_GCC}" && return 0
  elif [[ -z $present ]]; then
    major=${known#* } major=${major#*:} major=${major%%[!0-9]*}
    ((major < MIN_GCC || major > max)) || { printf 'g++\n' && return 0; }
  fi
  for ((version = max; version >= MIN_GCC; --version)); do
    [[ -z $(known_packages "g++-$version") ]] || { printf 'g++-%s\n' "$version" && return 0; }
  done
  return 1
}

# Debian packages of the programs that are missing. (If apt knows no g++ that nvcc takes, it is not among them.)
missing_programs() {
  find_cxx >/dev/null || gxx_package || true
  command -v pkg-config >/dev/null || [[ -n $LAB_TOOLS ]] || printf 'pkg-config\n'
  command -v python3 >/dev/null || printf 'python3\n'
  if [[ -n $LAB_TOOLS ]]; then
    find_nvcc >/dev/null || has_venv || printf 'python3-venv\n'
  elif [[ ! -x $LAB_VENV/bin/meson ]]; then
    has_venv || printf 'python3-venv\n'
  fi
}

# Prints the prefix with which packages can be installed without asking anybody: "" as root, "sudo -n".
install_prefix() {
  if ((EUID == 0)); then
    printf ''
  else
    command -v sudo >/dev/null && sudo -n true 2>/dev/null && printf 'sudo -n'
  fi
}

# A C++ program that includes a library's header and is linked with it; in the build folder, where the .pc files of .deps hold.
links_with() { # links_with NAME HEADER
  local cxx flags
  cxx=$(find_cxx) && flags=$(pkg-config --cflags --libs "$1") && eval "flags=($flags)" || return 1
  (cd "$LAB_BUILD" && printf '#include <%s>\nint main() {}\n' "$2" | "$cxx" -std=c++20 -x c++ - -x none "${flags[@]}" -o "$LAB_BUILD/links_with") &&
    rm -f "$LAB_BUILD/links_with"
}

# MiB that are free where folder $1 is or will be.
free_mib() {
  local folder=$1
  while [[ ! -e $folder ]]; do folder=$(dirname "$folder"); done
  df -Pm "$folder" | awk 'NR == 2 {print $4}'
}

# GPUs: one line each, "NVIDIA H200, 9.0, 580.159.03".
gpus() { nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>/dev/null; }
