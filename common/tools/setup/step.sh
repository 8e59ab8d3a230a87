# SPDX-License-Identifier: MIT
# step [--quiet] TITLE COMMAND…: runs a command with its output in build/lab-setup.log. Prints one line with the time it took,
# shows how far it is while it lasts (on a terminal or in a log), and on failure what stopped it, in at most ten lines. --quiet: no
# line when it ends within a second.
# take_lock FILE: waits for another ./lab that holds FILE's lock, and shows which command that is and how far.
# shellcheck shell=bash
LAB_LOG=$LAB_BUILD/lab-setup.log

say() { printf 'lab: %s\n' "$*" >&2; }

progress_every=15 # seconds, in a log
announce_after=2  # seconds

# show_line TITLE SECONDS LOG: how far something is, by the last line of its log: on one line of a terminal, elsewhere on a line of its own.
show_line() {
  local line columns
  columns=$(tput cols 2>/dev/null || echo 80)
  line=$(tail -c 400 "$3" 2>/dev/null | tr '\r' '\n' |
    awk '/^== / { last = ""; next } NF { last = $0 } END { print last }') || line=''
  line="lab: $1 ($2 s) ${line}"
  ((${#line} < columns)) || line=${line:0:columns-2}…
  if [[ -t 2 ]]; then printf '\r\033[K%s' "$line" >&2; else printf '%s\n' "$line" >&2; fi
}

# Whether it is time for such a line: once a second on a terminal; elsewhere when it has become a wait, and now and then.
is_due() { [[ -t 2 ]] || (($1 == announce_after || $1 % progress_every == 0)); }

clear_line() { [[ ! -t 2 ]] || printf '\r\033[K' >&2; }

# A sleep that outlives the step must hold neither the caller's pipes nor the locks.
show_progress() {
  local held
  for held in $LAB_LOCKS; do exec {held}>&-; done
  while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    ! is_due $SECONDS || show_line "$1" $SECONDS "$LAB_LOG"
  done
}

# It is held until release_lock, or until the process ends. Who holds it has written its process and command into FILE.
# A file system without locks, or a folder that can't be written, is no reason not to go on.
export LAB_LOCKS=${LAB_LOCKS-} # descriptors, also of the process that has called this one
take_lock() {
  local file=$1 waited=0 status=0 pid='' what='' since log
  lock=''
  { exec {lock}>>"$file"; } 2>/dev/null && command -v flock >/dev/null || return 0
  LAB_LOCKS+=" $lock"
  until status=0 && { flock --nonblock --conflict-exit-code 75 "$lock" || status=$?; } && ((status != 75)); do
    sleep 1
    waited=$((waited + 1))
    is_due $waited || continue
    IFS=$'\t' read -r pid what <"$file" || true
    since=$(($(date +%s) - $(stat -c %Y "$file" 2>/dev/null || date +%s)))
    # shellcheck disable=SC2012
    log=$(ls -t "$LAB_BUILD"/lab-{setup,build}.log 2>/dev/null | head -n 1) || log=''
    show_line "Waiting for \"${what:-another ./lab}\"${pid:+, process $pid, busy for $since s}" $waited "$log"
  done
  ((waited == 0)) || clear_line
  printf '%s\t./lab %s\n' $$ "${command-setup}" >"$file"
}

release_lock() {
  [[ -n $lock ]] || return 0
  LAB_LOCKS=${LAB_LOCKS% "$lock"}
  exec {lock}>&-
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

# A path of a log as seen from the checkout. Compilers' paths begin in the build folder, Meson's in the checkout.
plain_path() {
  local path=$1
  if [[ $path != /* && ! -e $LAB_BUILD/$path && -e $LAB_ROOT/$path ]]; then path=$LAB_ROOT/$path; fi
  [[ $path = /* ]] || path=$LAB_BUILD/$path
  path=$(readlink -m "$path")
  printf '%s\n' "${path#"$LAB_ROOT"/}"
}

# The variables with which a proxy is set, without the passwords in them.
proxies() {
  local name value
  for name in http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY PIP_PROXY; do
    value=${!name-}
    [[ -z $value ]] || printf '%s=%s\n' "$name" "${value##*@}"
  done
}
proxy_settings() {
  local found
  found=$(proxies | paste -sd' ')
  printf '%s\n' "${found:-the configuration of pip (pip config list) or apt (apt-config dump)}"
}

# explain_failure TITLE OFFSET: what stopped the step whose output begins at OFFSET of the log, whose fault that is, and what to do.
# Leaves what it was in failure_cause: interrupted, disk, memory, certificate, proxy, network, error (of a compiler or Meson) or unknown.
explain_failure() {
  local title=$1 offset=$2 file line words source by=''
  output() { tail -c +$((offset + 1)) "$LAB_LOG"; }
  # The first line that fits, without what pip puts before the reason.
  has() {
    words=$(output | sed 's/.* after connection broken by //' | first_line "$1" || true)
    words=${words#"${words%%[![:space:]]*}"}
    [[ -n $words ]]
  }
  if has 'interrupted by user|cancelled by user'; then
    failure_cause=interrupted
    say "$title was interrupted. The same command goes on from there."
    return
  elif has 'no space left on device|enough free space|quota exceeded'; then
    failure_cause=disk
    say "$title: the disk is full. Free some space (\"df -h\" shows how much there is), then run the same command again."
  elif has 'Killed signal|cannot allocate memory|virtual memory exhausted|out of memory'; then
    failure_cause=memory
    say "$title: the memory is used up. Close other programs, then run the same command again: it goes on where it stopped."
  elif has 'certificate[ _]verif(y|ication)|confirming the ssl certificate|certificate is not trusted|self.signed certificate|local issuer certificate'; then
    failure_cause=certificate
    say "$title: a server's certificate was refused: $words"
    say "Some networks put a certificate of their own in place of the servers'. Save its authority's certificate as a file, and:"
    say '  for pip: PIP_CERT=/path/to/the/file.pem ./lab …'
    say '  for apt: copy it to /usr/local/share/ca-certificates/NAME.crt, then run: sudo update-ca-certificates'
    say "If this machine's clock is wrong, every certificate is refused. It is now $(date '+%Y-%m-%d %H:%M' 2>/dev/null)."
  elif has 'ProxyError|connect to proxy|tunnel connection failed|proxy authentication required|resolve proxy|(proxy|SOCKS).*(url|scheme|support)'; then
    failure_cause=proxy
    say "$title: the proxy did not let it through: $words"
    say "The proxy is set by $(proxy_settings). Correct it there, or unset it, then run the same command again."
  elif has 'network is unreachable|could ?n.t resolve|could not resolve|temporary failure (in name )?resol|name or service not known|(timed out|connection refused|no route to host)|failed to establish a new connection|could not connect'; then
    failure_cause=network
    say "$title: the network can't be reached: $words"
    [[ -z $(proxies) ]] || say "A proxy is set by $(proxy_settings): check that it is the right one."
    say 'Check the connection, then run the same command again. "./lab doctor" says what is still missing.'
  elif IFS=$'\t' read -r file line words source < <(output | first_error) && [[ -n $file ]]; then
    failure_cause=error
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
      return
    fi
  else
    failure_cause=unknown
    say "$title did not work. Its last lines:"
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
  clear_line
  if ((rc != 0)); then
    explain_failure "$title" "$offset"
    return "$rc"
  fi
  [[ -n $quiet && $seconds -lt 2 ]] || say "$title: done ($seconds s)"
}
