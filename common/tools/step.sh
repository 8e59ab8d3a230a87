# SPDX-License-Identifier: MIT
# step [--quiet] TITLE COMMAND…: runs a command with its output in build/lab-setup.log. Prints one line with the time it took,
# shows how far it is while it lasts (on a terminal or in a log), and on failure what stopped it, in at most ten lines. --quiet: no line when it ends within a second.
# shellcheck shell=bash
LAB_LOG=$LAB_BUILD/lab-setup.log

say() { printf 'lab: %s\n' "$*" >&2; }

# How long it has taken and the last line of output: once a second on one line of a terminal, elsewhere a line now and then. A sleep that
# outlives the step must hold neither the caller's pipes nor the lock of the build.
progress_every=15 # seconds, in a log
show_progress() {
  local title=$1 line columns
  columns=$(tput cols 2>/dev/null || echo 80)
  [[ -z ${lock-} ]] || exec {lock}>&-
  while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    [[ -t 2 ]] || ((SECONDS % progress_every == 0)) || continue
    line=$(tail -c 400 "$LAB_LOG" 2>/dev/null | tr '\r' '\n' | grep -v '^ *$' | tail -n 1) || line=''
    line="lab: $title (${SECONDS} s) ${line}"
    if [[ -t 2 ]]; then printf '\r\033[K%s' "${line:0:columns-1}" >&2; else printf '%s\n' "${line:0:columns-1}" >&2; fi
  done
}

# The first error in a compiler's, Meson's or linker's output (stdin): "FILE<tab>LINE<tab>WORDS<tab>SOURCE", where SOURCE is the file
# that included FILE, when the log says so. Nothing when there is none.
first_error() {
  sed 's/\x1b\[[0-9;]*[mK]//g' | awk '
    function found(file, line, words) { print file "\t" line "\t" words "\t" source; exit }
    /^FAILED: |^\[[0-9]+\/[0-9]+\] / { source = "" }
    match($0, /^(In file included|  *) from [^:]+/) { source = substr($0, 1, RLENGTH); sub(/.* from /, "", source) }
    match($0, /^[^ :(]+:[0-9]+:([0-9]+:)? *(fatal error|error|ERROR): /) {
      split(substr($0, 1, RLENGTH), part, ":")
      found(part[1], part[2], substr($0, RLENGTH + 1))
    }
    match($0, /^[^ :(]+\([0-9]+\): (catastrophic )?error[^:]*: /) {
      split(substr($0, 1, RLENGTH), part, /[()]/)
      found(part[1], part[2], substr($0, RLENGTH + 1))
    }'
}

# first_line PATTERN: the first line of the output (stdin) that has it.
first_line() { sed 's/\x1b\[[0-9;]*[mK]//g' | grep -m 1 -iE "$1" | cut -c 1-200; }

# A path of a log, which begins in the build folder, as seen from the checkout.
plain_path() {
  local path=$1
  [[ $path = /* ]] || path=$LAB_BUILD/$path
  path=$(readlink -m "$path")
  printf '%s\n' "${path#"$LAB_ROOT"/}"
}

# A g++ other than the one in use, which may do where that one fails.
other_cxx() {
  local cxx now
  now=$("${CXX:-g++}" -dumpversion 2>/dev/null | cut -d. -f1) || true
  for cxx in g++-12 g++-13 g++-14; do
    [[ $cxx != "g++-$now" ]] && command -v "$cxx" >/dev/null && printf '%s\n' "$cxx" && return 0
  done
  return 1
}

# explain_failure TITLE OFFSET: what stopped the step whose output begins at OFFSET of the log, whose fault that is, and what to do.
explain_failure() {
  local title=$1 offset=$2 file line words source by='' cxx
  output() { tail -c +$((offset + 1)) "$LAB_LOG"; }
  if words=$(output | first_line 'No space left on device' || true) && [[ -n $words ]]; then
    say "$title: the disk is full. Free some space (\"df -h\" shows how much there is), then run the same command again."
  elif words=$(output | first_line 'Killed signal|cannot allocate memory|virtual memory exhausted|out of memory' || true) && [[ -n $words ]]; then
    say "$title: the memory is used up. Close other programs, then run the same command again: it goes on where it stopped."
  elif words=$(output | first_line 'network is unreachable|could ?n.t resolve|could not resolve|temporary failure (in name )?resolving|connection (timed out|refused)' || true) && [[ -n $words ]]; then
    say "$title: the network can't be reached: ${words#"${words%%[![:space:]]*}"}"
    say 'Check the connection, then run the same command again. "./lab doctor" says what is still missing.'
  elif IFS=$'\t' read -r file line words source < <(output | first_error) && [[ -n $file ]]; then
    file=$(plain_path "$file")
    [[ $file = /* && -n $source ]] && by=" (included by $(plain_path "$source"))"
    say "$title stopped at $file, line $line$by:"
    say "  $(cut -c 1-200 <<<"$words")"
    if [[ $file = *meson.build || $words = *'No such file or directory'* ]]; then
      say 'Something that the course needs seems to be missing. "./lab doctor" says what, and how to get it.'
    elif [[ $file = labs/*/*.cu ]]; then
      say 'That is your own file: correct it there, then run the same command again.'
      return
    else
      say 'This is a fault of the course, not of your code.'
      say "Please send this file to your instructor: $LAB_LOG"
      ! cxx=$(other_cxx) || say "Meanwhile another compiler may do: CXX=$cxx ./lab …"
      return
    fi
  else
    say "$title did not work. The last it said:"
    output | sed 's/\x1b\[[0-9;]*[mK]//g; /^ *$/d' | tail -n 4 | cut -c 1-200 | sed 's/^/    /' >&2
    say '"./lab doctor" says whether something is missing here, and how to get it.'
  fi
  say "If that does not help, please send this file to your instructor: $LAB_LOG"
}

step() {
  local quiet='' title ticker rc=0 offset
  if [[ $1 = --quiet ]]; then quiet=1 && shift; fi
  title=$1 && shift
  mkdir -p "$LAB_BUILD" || { say "Can't write to $LAB_BUILD. Choose another folder: LAB_BUILD=/some/folder ./lab …" && return 1; }
  printf '\n== %s: %s\n' "$title" "$*" >>"$LAB_LOG"
  offset=$(stat -c %s "$LAB_LOG")
  [[ -n $quiet || -t 2 ]] || say "$title …"
  SECONDS=0
  show_progress "$title" &
  ticker=$!
  "$@" >>"$LAB_LOG" 2>&1 </dev/null || rc=$?
  local seconds=$SECONDS
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
  if ((rc != 0)); then
    explain_failure "$title" "$offset"
    return "$rc"
  fi
  [[ -n $quiet && $seconds -lt 2 ]] || say "$title: done ($seconds s)"
}
