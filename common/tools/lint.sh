#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./lab format [--check] [FILE…]: reformats the C++ and CUDA sources, or only says which are not in form.
# ./lab tidy [--fix] [FILE…]: clang-tidy on host sources (default: all that the build compiles), on every core.
# ./lab tidy --list: those sources.
# Version 14, so that everybody gets the same answer: Debian 12's, or CLANG_FORMAT=… CLANG_TIDY=….
set -euo pipefail
cd "$LAB_ROOT"

# tool NAME VERSION: the program of that version, or else a complaint.
tool() {
  local name
  for name in "$1-$2" "$1"; do
    if command -v "$name" >/dev/null && "$name" --version | grep -q "version $2\."; then
      printf '%s\n' "$name"
      return
    fi
  done
  printf 'lab: %s %s is needed: sudo apt-get install %s-%s\n' "$1" "$2" "$1" "$2" >&2
  return 1
}

format() {
  local clang_format mode=(-i)
  if [[ ${1-} = --check ]]; then mode=(--dry-run -Werror) && shift; fi
  clang_format=${CLANG_FORMAT:-$(tool clang-format 14)}
  if (($# > 0)); then
    "$clang_format" "${mode[@]}" "$@"
  else
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' |
      xargs -0 -r "$clang_format" "${mode[@]}"
  fi
}

# The host sources in the build's compile_commands.json that belong to the project, also those that are compiled several at once.
compiled_sources() {
  python3 - "$LAB_BUILD" "$LAB_ROOT" <<'PYTHON'
import json, pathlib, re, sys
build, root = (pathlib.Path(p).resolve() for p in sys.argv[1:])
entries = json.loads((build / "compile_commands.json").read_text())
files = {(pathlib.Path(e["directory"]) / e["file"]).resolve() for e in entries}
for file in [file for file in files if re.search(r"-unity\d+\.cpp$", file.name)]:
    files.remove(file)
    files.update((file.parent / name).resolve() for name in re.findall(r'^#include\s*[<"](.*)[>"]', file.read_text(), re.M))
for file in sorted(files):
    if file.suffix == ".cpp" and file.is_relative_to(root) and not file.is_relative_to(build):
        print(file.relative_to(root))
PYTHON
}

tidy() {
  if [[ ${1-} = --list ]]; then compiled_sources && return; fi
  # The build's commands may hold options of g++ that clang does not know.
  local clang_tidy options=(--quiet -p "$LAB_BUILD" --extra-arg=-Wno-unknown-warning-option)
  if [[ ${1-} = --fix ]]; then options+=(--fix) && shift; fi
  clang_tidy=${CLANG_TIDY:-$(tool clang-tidy 14)}
  if (($# > 0)); then printf '%s\0' "$@"; else compiled_sources | tr '\n' '\0'; fi |
    xargs -0 -r -n 1 -P "$(nproc)" "$clang_tidy" "${options[@]}" 2> >(grep -v 'warnings generated' >&2)
}

"$@"
