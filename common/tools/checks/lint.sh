#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./lab format [--check] [FILE…]: reformats the C++, CUDA and Python sources and wraps the prose of Markdown files,
# or only says which are not in form; ruff also checks rules of Python (.ruff.toml).
# --check without files also checks the types of the Python sources (.mypy.ini).
# ./lab tidy [--fix] [FILE…]: clang-tidy on host sources (default: all that the build compiles), on every core.
# ./lab tidy --list: those sources.
# Fixed versions, so that everybody gets the same answer: clang's 14, which is Debian 12's (or CLANG_FORMAT=… CLANG_TIDY=…),
# and the ruff and mypy of requirements-format.txt, installed into the Python environment when first needed.
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

# pinned NAME: the path of that program for Python, in the pinned version.
pinned() {
  local wanted=common/tools/checks/requirements-format.txt program=$LAB_VENV/bin/$1
  if ! "$program" --version 2>/dev/null | cut -d ' ' -f 1,2 | sed 's/ /==/' | grep -qxFf $wanted; then
    { "$LAB_VENV/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$LAB_VENV"; } &&
      "$LAB_VENV/bin/python" -m pip install -q --disable-pip-version-check --no-input -r $wanted >&2 ||
      { printf 'lab: %s cannot be installed in %s.\n' "$1" "$LAB_VENV" >&2 && return 1; }
  fi
  printf '%s\n' "$program"
}

# sources PATTERN…: the files of the checkout that match, each followed by a zero byte.
sources() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

format() {
  local clang_format python types clang_mode=(-i) check_mode=(--fix) form_mode=() wrap_mode=()
  local c_files=() python_files=() texts=()
  if [[ ${1-} = --check ]]; then
    clang_mode=(--dry-run -Werror) check_mode=() form_mode=(--diff) wrap_mode=(--check) && shift
    (($# > 0)) || types=$(pinned mypy)
  fi
  (($# > 0)) || mapfile -td '' c_files < <(sources '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh')
  (($# > 0)) || mapfile -td '' python_files < <(sources '*.py')
  (($# > 0)) || mapfile -td '' texts < <(sources '*.md' '*.md.in')
  for file; do
    case $file in *.py) python_files+=("$file") ;; *.md | *.md.in) texts+=("$file") ;; *) c_files+=("$file") ;; esac
  done
  if ((${#texts[@]} > 0)); then python3 common/tools/checks/wrap_markdown.py "${wrap_mode[@]}" "${texts[@]}"; fi
  if ((${#c_files[@]} > 0)); then
    clang_format=${CLANG_FORMAT:-$(tool clang-format 14)}
    printf '%s\0' "${c_files[@]}" | xargs -0 "$clang_format" "${clang_mode[@]}"
  fi
  if ((${#python_files[@]} > 0)); then
    python=$(pinned ruff)
    "$python" check -q "${check_mode[@]}" "${python_files[@]}"
    "$python" format -q "${form_mode[@]}" "${python_files[@]}"
  fi
  if [[ ${types-} ]]; then "$types" --no-error-summary; fi
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
  local clang_tidy commands=$LAB_BUILD/tidy/compile_commands.json
  mkdir -p "${commands%/*}" && sed 's/ -fno-gnu-unique / /' "$LAB_BUILD/compile_commands.json" >"$commands"
  local options=(--quiet -p "$LAB_BUILD/tidy" --extra-arg=-Wno-unknown-warning-option)
  if [[ ${1-} = --fix ]]; then options+=(--fix) && shift; fi
  clang_tidy=${CLANG_TIDY:-$(tool clang-tidy 14)}
  if (($# > 0)); then printf '%s\0' "$@"; else compiled_sources | tr '\n' '\0'; fi |
    xargs -0 -r -n 1 -P "$(nproc)" "$clang_tidy" "${options[@]}" 2> >(grep -v 'warnings generated' >&2)
}

"$@"
