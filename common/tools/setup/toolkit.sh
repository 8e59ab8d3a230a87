# SPDX-License-Identifier: MIT
# A CUDA toolkit made of Python wheels, in $LAB_VENV/cuda (13) or $LAB_VENV/cuda12, laid out like an installed one. Sourced by
# setup.sh. Needs no root. CUDA 12's wheels have no nvcc, cudafe++, cicc and fatbinary: those are taken out of Debian's package of
# the same release, downloaded and checked by apt-get, not installed.
# shellcheck shell=bash

DEBIAN_WITH_CUDA12=trixie
NVCC12_PACKAGE='nvidia-cuda-toolkit=12.4.131~12.4.1-2'

# The wheels of CUDA 13: of 13.0 pinned, of a later release its newest. CCCL has version numbers of its own since 13.3.
requirements13() {
  local release=$1 part
  if [[ $release = 13 || $release = 13.0 ]]; then cat "$tools/setup/requirements-cuda.txt" && return 0; fi
  for part in nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime; do printf '%s==%s.*\n' "$part" "$release"; done
  printf 'nvidia-cuda-cccl>=13,<13.%d\n' $((${release#13.} + 1))
}

# CUDA 13's wheels unpack to site-packages/nvidia/cu13; links make that folder look like an installed toolkit.
make_toolkit13() {
  local nvcc top library
  make_python && requirements13 "$1" >"$LAB_BUILD/requirements-cuda.txt" && pip_install "$LAB_BUILD/requirements-cuda.txt" --force-reinstall || return 1
  nvcc=$(find "$LAB_VENV"/lib/python3*/site-packages/nvidia -path '*/bin/nvcc' | head -n 1)
  top=$(dirname "$(dirname "$nvcc")")
  ln -sfn lib "$top/lib64"
  for library in "$top"/lib/lib*.so.[0-9]*; do
    ln -sfn "$(basename "$library")" "${library%.so.*}.so"
  done
  ln -sfn "${top#"$LAB_VENV"/}" "$LAB_VENV/cuda"
}

# The mirror that this machine's own sources name.
debian_mirror() { apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/$'; }

# download_packages FOLDER SUITE COMPONENT PACKAGE…: Debian's packages, by a list of sources of its own: the machine's stay as they are.
download_packages() {
  local folder=$1 suite=$2 component=$3 mirror options
  shift 3
  mirror=$(debian_mirror) || { echo 'No Debian mirror is configured here.' && return 1; }
  mkdir -p "$folder/lists/partial" "$folder/archives/partial" || return 1
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s %s\n' \
    "$mirror" "$suite" "$component" >"$folder/sources.list" || return 1
  options=(-o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null
    -o Dir::Etc::PreferencesParts=/dev/null -o "Dir::State::Lists=$folder/lists" -o Dir::State::status=/dev/null
    -o "Dir::Cache=$folder" -o "Dir::Cache::Archives=$folder/archives" -o Acquire::Retries=3 -o "APT::Sandbox::User=$(id -un)")
  apt-get "${options[@]}" update && (cd "$folder" && apt-get "${options[@]}" download "$@")
}

# Everything is copied: a compiler in the sandbox sees the toolkit's folder alone.
make_toolkit12() {
  local work=$LAB_VENV/cuda12.new parts=$LAB_VENV/cuda12.new/parts part
  make_python && pip_install "$tools/setup/requirements-cuda12.txt" --force-reinstall && rm -rf "$work" && mkdir -p "$parts" || return 1
  download_packages "$parts" "$DEBIAN_WITH_CUDA12" non-free "$NVCC12_PACKAGE" && dpkg -x "$parts"/nvidia-cuda-toolkit_*.deb "$parts" || return 1
  mkdir -p "$work"/{bin,nvvm/bin,include,lib64} &&
    cp -r "$parts"/usr/bin/{cudafe++,fatbinary,ptxas,nvlink} "$parts"/usr/lib/nvidia-cuda-toolkit/bin/{nvcc,crt} "$work/bin/" &&
    cp "$parts/usr/lib/nvidia-cuda-toolkit/bin/cicc" "$work/nvvm/bin/" &&
    cp -r "$parts/usr/lib/nvidia-cuda-toolkit/libdevice" "$work/nvvm/" || return 1
  rm -f "$work/bin/nvcc.profile" # a link out of the package
  for part in cuda_runtime cuda_nvcc cuda_cccl; do
    cp -r "$LAB_VENV"/lib/python3*/site-packages/nvidia/$part/include/. "$work/include/" || return 1
  done
  cp "$LAB_VENV"/lib/python3*/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12 "$work/lib64/" &&
    ln -sfn libcudart.so.12 "$work/lib64/libcudart.so" || return 1
  # The wheel has no static runtime, with which Meson tries out a CUDA compiler: a linker script leads to the shared one. Nor has it
  # the device's, which nvcc always names and only kernels that launch kernels need: an archive of nothing (nvlink takes no empty one).
  echo 'INPUT ( libcudart.so )' >"$work/lib64/libcudart_static.a"
  "$(find_cxx)" -x c++ -c /dev/null -o "$work/nothing.o" && ar rcs "$work/lib64/libcudadevrt.a" "$work/nothing.o" || return 1
  cat >"$work/bin/nvcc.profile" <<'PROFILE'
TOP              = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib64:
PATH            += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES        += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES       =+ $(_SPACE_) "-L$(TOP)/lib64"
PROFILE
  rm -rf "$parts" "$LAB_VENV/cuda12" && mv "$work" "$LAB_VENV/cuda12"
}

# The toolkit at hand, or the one that will be fetched, in words.
name_of_cuda() {
  local nvcc
  if nvcc=$(find_nvcc); then printf 'nvcc %s' "$(nvcc_version "$nvcc")"; else printf 'CUDA %s' "$(wanted_cuda)"; fi
}

# Ends the set-up where the CUDA that is asked for can't compile against this system's C library.
refuse_cuda() {
  find_nvcc >/dev/null || takes_c_library "$(wanted_cuda)" || fail "CUDA $(wanted_cuda) does not compile with this system's C library, glibc $(c_library). Take a later one:" \
    "LAB_CUDA=13 ./lab …"
}

# An nvcc that somebody has named and that is of no use.
name_ignored_cuda() {
  local home version
  for home in ${CUDA_HOME:+"$CUDA_HOME"} ${CUDA_PATH:+"$CUDA_PATH"}; do
    version=$(nvcc_version "$home/bin/nvcc") || true
    usable_nvcc "$home/bin/nvcc" || say "$home is ignored: it has ${version:+CUDA }${version:-no nvcc}, and this needs CUDA ${LAB_CUDA:-$MIN_CUDA or later}."
  done
}

install_toolkit() {
  name_ignored_cuda
  find_nvcc >/dev/null && return 0
  local version
  version=$(wanted_cuda)
  need_space "$LAB_VENV" "$CUDA_MIB" 'the CUDA toolkit'
  need_space "${TMPDIR:-/tmp}" "$CUDA_DOWNLOAD_MIB" "pip's temporary files" 'TMPDIR=/some/folder'
  case $version in
    12 | 12.4) step 'Fetching the CUDA 12 toolkit (about 100 MB)' make_toolkit12 && find_nvcc >/dev/null && return 0 ;;
    13 | 13.[0-9]) step "Fetching the CUDA $version toolkit (about 100 MB)" make_toolkit13 "$version" && find_nvcc >/dev/null && return 0 ;;
    *) fail "LAB_CUDA is \"$version\"; the toolkits that can be fetched are 12 (which is 12.4), 13 (13.0) and 13.1 to $NEWEST_CUDA." ;;
  esac
  stop_if_explained
  fail "There is no nvcc $MIN_CUDA or later${LAB_CUDA:+ (LAB_CUDA asks for $LAB_CUDA)}, and the toolkit can't be fetched. Install CUDA, then say where it is:" \
    'CUDA_HOME=/path/to/cuda ./lab …'
}
