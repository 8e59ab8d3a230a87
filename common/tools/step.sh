# SPDX-License-Identifier: MIT
# step [--quiet] TITLE COMMAND…: runs a command with its output in build/lab-setup.log. Prints one line with the time it took,
# shows how far it is while it lasts, and on failure the end of its output. --quiet: no line when it ends within a second.
# shellcheck shell=bash
LAB_LOG=$LAB_BUILD/lab-setup.log

say() { printf 'lab: %s\n' "$*" >&2; }

# Once a second: how long it has taken and the last line of output, on one line of the terminal.
show_progress() {
  local title=$1 line columns
  columns=$(tput cols 2>/dev/null || echo 80)
  while sleep 1; do
    line=$(tail -c 400 "$LAB_LOG" 2>/dev/null | tr '\r' '\n' | grep -v '^ *$' | tail -n 1) || line=''
    line="lab: $title (${SECONDS} s) ${line}"
    printf '\r\033[K%s' "${line:0:columns-1}" >&2
  done
}

step() {
  local quiet='' title ticker='' from=$SECONDS rc=0 offset
  if [[ $1 = --quiet ]]; then quiet=1 && shift; fi
  title=$1 && shift
  mkdir -p "$LAB_BUILD" || { say "Can't write to $LAB_BUILD. Choose another folder: LAB_BUILD=/some/folder ./lab …" && return 1; }
  printf '\n== %s: %s\n' "$title" "$*" >>"$LAB_LOG"
  offset=$(stat -c %s "$LAB_LOG")
  [[ -n $quiet || -t 2 ]] || say "$title …"
  if [[ -t 2 ]]; then
    SECONDS=0
    show_progress "$title" &
    ticker=$!
  fi
  "$@" >>"$LAB_LOG" 2>&1 </dev/null || rc=$?
  if [[ -n $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    printf '\r\033[K' >&2
    from=0
  fi
  local seconds=$((SECONDS - from))
  if ((rc != 0)); then
    say "$title: FAILED (exit status $rc). The end of its output:"
    tail -c +$((offset + 1)) "$LAB_LOG" | tail -n 20 | sed 's/^/    /' >&2
    say "All of it is in $LAB_LOG. \"./lab doctor\" says what is missing."
    return "$rc"
  fi
  [[ -n $quiet && $seconds -lt 2 ]] || say "$title: done ($seconds s)"
}
