#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./lab doctor: a table of what the course needs, what is here, and the command that installs what is missing.
# Needs nothing but bash; changes nothing. Exit status 1 when something that "needed" names is missing.
set -uo pipefail
tools=$LAB_ROOT/common/tools
source "$tools/setup/probe.sh"

n_missing=0
mends=()

# folded WIDTH TEXT: the text in lines of that width, a word that is longer on a line of its own; into the array lines.
folded() {
  local width=$1 line='' word words
  read -ra words <<<"$2"
  lines=()
  for word in "${words[@]}"; do
    if [[ -n $line ]] && ((${#line} + 1 + ${#word} > width)); then
      lines+=("$line")
      line=$word
    else
      line+=${line:+ }$word
    fi
  done
  lines+=("$line")
}

# print_row MARK ITEM FOUND NEEDED: columns of a terminal of 80; FOUND and NEEDED go on in the lines below.
print_row() {
  local -a found needed
  local i mark=$1 item=$2
  folded 31 "$3" && found=("${lines[@]}")
  folded 26 "$4" && needed=("${lines[@]}")
  for ((i = 0; i < ${#found[@]} || i < ${#needed[@]}; ++i)); do
    # A long path leaves no room beside it.
    if ((${#found[i]} > 31)); then needed=("${needed[@]:0:i}" '' "${needed[@]:i}"); fi
    if [[ -n ${needed[i]-} ]]; then
      printf '%-7s %-13s %-31s %s\n' "$mark" "$item" "${found[i]-}" "${needed[i]}"
    else
      printf '%-7s %-13s %s\n' "$mark" "$item" "${found[i]-}"
    fi
    mark='' item=''
  done
}

# row STATE ITEM FOUND NEEDED [MEND]; STATE: ok, note (works without), missing.
row() {
  local mark
  case $1 in
    ok) mark='ok' ;;
    note) mark='-' ;;
    missing) mark='MISSING' && n_missing=$((n_missing + 1)) ;;
  esac
  print_row "$mark" "$2" "$3" "$4"
  [[ -z ${5-} ]] || mends+=("$2: $5")
}

# have STATE ITEM FOUND NEEDED MEND: a row that is ok if something was found, else of that state.
have() {
  if [[ -n $3 ]]; then row ok "$2" "$3" "$4"; else row "$1" "$2" none "$4" "$5"; fi
}

by_apt() { # how to install Debian packages here
  if command -v apt-get >/dev/null; then
    printf 'sudo apt-get install -y %s' "$*"
  else
    printf 'install what Debian calls %s' "$*"
  fi
}

gxx_advice() {
  local package
  if package=$(gxx_package); then by_apt "$package"; else printf 'apt knows none of them: install one, then: CXX=/path/to/g++ ./lab setup'; fi
}

print_row '' 'ITEM' 'FOUND' 'NEEDED'

# ---- Compilers and build tools
if cxx=$(find_cxx); then
  row ok 'C++ compiler' "$cxx $("$cxx" -dumpfullversion)" "g++ $MIN_GCC to $(max_gcc)"
else
  row missing 'C++ compiler' "$(g++ -dumpfullversion 2>/dev/null || echo none)" "g++ $MIN_GCC to $(max_gcc)" \
    "$(gxx_advice)"
fi
if nvcc=$(find_nvcc); then
  row ok 'CUDA toolkit' "$nvcc $(nvcc_version "$nvcc")" "nvcc $MIN_CUDA or later"
else
  old=$(command -v nvcc || true)
  row missing 'CUDA toolkit' "${old:-none}${old:+ $(nvcc_version "$old")}" "nvcc $MIN_CUDA or later" \
    '"./lab setup" fetches it into .venv, no root needed; or CUDA_HOME=/path/to/cuda ./lab setup'
fi
# Prebuilt tools need neither Meson nor libraries.
if [[ -n $LAB_TOOLS ]]; then
  row ok 'Tools' "prebuilt for $(uname -m)" 'prebuilt, or built from the sources'
else
  fetched='"./lab setup" fetches it into .venv'
  meson=$(find_meson)
  ninja=$(find_ninja)
  have missing 'Meson' "${meson:+$meson $("$meson" --version)}" "$MIN_MESON or later" "$fetched"
  have missing 'Ninja' "${ninja:+$ninja $("$ninja" --version)}" 'any' "$fetched"
fi
if command -v python3 >/dev/null; then
  if has_venv || [[ -x $LAB_VENV/bin/python ]]; then
    row ok 'Python' "$(python3 -V 2>&1), venv" 'python3 with venv'
  else
    row missing 'Python' "$(python3 -V 2>&1), no venv" 'python3 with venv' "$(by_apt python3-venv)"
  fi
else
  row missing 'Python' 'none' 'python3 with venv' "$(by_apt python3 python3-venv)"
fi

# ---- Libraries
# libraries STATE ROW…; STATE is that of a missing one.
libraries() {
  local state=$1 library name package purpose
  shift
  for library in "$@"; do
    read -r name package _ purpose <<<"$library"
    have "$state" "$name" "$(! has_library "$name" || pkg-config --modversion "$name")" "$purpose" "$(by_apt "$package")"
  done
}
if [[ -n $LAB_TOOLS ]]; then
  :
elif command -v pkg-config >/dev/null; then
  libraries missing "${LIBRARIES[@]}"
  libraries note "${TEST_LIBRARIES[@]}"
else
  row missing 'pkg-config' 'none' 'finds libraries' "$(by_apt pkg-config)"
fi

# ---- The machine
if found=$(gpus) && [[ -n $found ]]; then
  while IFS=, read -r name capability driver; do
    if [[ -n $nvcc ]] && at_least "$(nvcc_version "$nvcc")" 13 && ! at_least "${driver# }" "$MIN_DRIVER_FOR_13"; then
      row note 'GPU' "$name, driver$driver, runs CUDA 12 only" "driver $MIN_DRIVER_FOR_13 for CUDA 13" \
        'LAB_CUDA=12 ./lab setup, or a newer driver; the simulator works as it is'
    else
      row ok 'GPU' "$name, compute capability$capability, driver$driver" 'none: labs run on the simulator too'
    fi
  done <<<"$found"
elif command -v nvidia-smi >/dev/null; then
  row note 'GPU' 'nvidia-smi reaches no GPU' 'none: labs run on the simulator' 'check the driver: nvidia-smi'
else
  row note 'GPU' 'none; labs run on the simulator' 'none'
fi

# How well a student's program is isolated: the built grader tries it; before there is one, a guess.
isolation_needed='full for "grade --graded", none for practice'
if level=$("$LAB_BUILD/grader/labcli" isolation 2>/dev/null) && [[ -n $level ]]; then
  found=${level%%$'\n'*}
  row "$([[ $found = full* ]] && echo ok || echo note)" 'Isolation' "$found" "$isolation_needed"
  while IFS= read -r line; do mends+=("Isolation: $line"); done < <(sed -n '2,$p' <<<"$level")
elif command -v bwrap >/dev/null && bwrap --unshare-all --ro-bind / / true 2>/dev/null; then
  row ok 'Isolation' "bubblewrap $(bwrap --version | cut -d' ' -f2), namespaces" "$isolation_needed"
elif command -v bwrap >/dev/null; then
  row note 'Isolation' 'bubblewrap, but no namespaces' "$isolation_needed" 'sysctl kernel.unprivileged_userns_clone=1 (or kernel.apparmor_restrict_unprivileged_userns=0), or grade as root'
else
  row note 'Isolation' 'limits: no bubblewrap' "$isolation_needed" "$(by_apt bubblewrap)"
fi
row ok 'Processor' "$(nproc) cores, $(uname -m)" 'any'
disk() { # disk FOLDER MIB PURPOSE
  local free
  free=$(free_mib "$1")
  if ((free >= $2)); then
    row ok 'Disk' "$((free / 1024)) GiB free" "$2 MiB for $3"
  else
    row missing 'Disk' "$free MiB free" "$2 MiB for $3" 'free some, or build elsewhere: LAB_BUILD=/some/folder LAB_VENV=/some/other ./lab …'
  fi
}
if [[ -n $LAB_TOOLS ]]; then disk "$LAB_BUILD" "$TOOLS_MIB" 'the tools'; else disk "$LAB_BUILD" "$MIN_FREE_MIB" 'the build'; fi
[[ -n $LAB_TOOLS ]] || find_meson >/dev/null || disk "$LAB_VENV" "$VENV_MIB" 'the Python environment'
folder=$LAB_BUILD
while [[ ! -e $folder ]]; do folder=$(dirname "$folder"); done
if [[ -w $folder ]]; then
  row ok 'Build folder' "$LAB_BUILD" 'writable'
else
  row missing 'Build folder' "$LAB_BUILD, read-only" 'writable' 'LAB_BUILD=~/lab-build LAB_VENV=~/lab-venv ./lab …'
fi
if [[ -x $LAB_BUILD/grader/labcli ]]; then
  row ok 'Built' 'yes' 'built at first use'
else
  row note 'Built' 'not yet' 'built at first use'
fi
for tool in clang-format clang-tidy; do
  version=$($tool --version 2>/dev/null | grep -o 'version [0-9.]*' | cut -d' ' -f2)
  have note $tool "$version" 'for developers only' "$(by_apt $tool)"
done

if ((${#mends[@]} > 0)); then
  printf '\nTo mend:\n'
  printf '  %s\n' "${mends[@]}"
fi
if ((n_missing > 0)); then
  printf '\n%d missing.\n' "$n_missing"
  exit 1
fi
printf '\nEverything that is needed is here.\n'
