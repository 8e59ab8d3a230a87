# SPDX-License-Identifier: MIT
# The tools that `./lab release --prebuilt` has packed into the edition, in place of those that ./lab would build: prebuilt/ARCH.tar.gz, which is
# unpacked into build/prebuilt. They are used where they run and as long as the sources are those that they were built from.
#   prebuilt/ARCH.sha256        digests of the sources, of the archive and of the next file
#   prebuilt/ARCH.tools.sha256  digests of the files in the archive
# Sourced by `lab`, which uses them, by setup.sh, which unpacks them, and by the script that makes them.
# shellcheck shell=bash
PREBUILT=$LAB_ROOT/prebuilt/$(uname -m)
PREBUILT_GLIBC=2.35 # Ubuntu 22.04's
TOOLS_OF_NO_USE=3   # the status with which setup.sh ends if they can't be used here

# What the tools are made of, from the checkout's folder; names end with a zero byte. Students' files are not among it,
# and no Python scripts but those in abi/ and grader/page/.
list_sources() {
  find meson.build meson_options.txt common grader labs -type f \
    \( -name '*.[ch]pp' -o -name '*.h' -o -name '*.cuh' -o -name '*.in' -o -name '*.inc' -o -name '*.css' -o -name '*.js' -o -name 'meson.build' \
    -o -name 'meson_options.txt' -o -path 'common/*.cu' -o -path '*/abi/*' -o -path 'grader/page/*' \) ! -path 'labs/*_test.cpp' "$@" -print0
}

# Whether this edition has tools for this machine, with which a command does without a build.
can_do_with_tools() { # can_do_with_tools COMMAND ARGUMENT…
  local unusable=$LAB_BUILD/prebuilt/unusable # setup.sh writes the reason into it
  [[ -f $PREBUILT.sha256 && ${LAB_PREBUILT:-1} != 0 ]] || return 1
  case $1 in
    test | bench | tidy | site | play | grade-all | class | release | gradescope) return 1 ;;
    setup) (($# == 1)) ;;
    *) [[ ! -f $unusable || $PREBUILT.sha256 -nt $unusable ]] ;;
  esac
}

# Whether sources and archive are those that belong together.
are_of_these_sources() { (cd "$LAB_ROOT" && sha256sum --check --strict --status "$PREBUILT.sha256" 2>/dev/null); }

# What the stamp holds of the tools that were unpacked.
digest_of_tools() { sha256sum <"$PREBUILT.sha256"; }

# Whether those that were unpacked when the stamp, file $1, was written still are of these sources. Looks closer only if a source is newer.
are_still_of_these_sources() {
  [[ ${STAMP_TOOLS-} = "$(digest_of_tools)" ]] || return 1 # an update has brought others
  [[ -z $(cd "$LAB_ROOT" && list_sources -newer "$1" | tr -d '\0') ]] || { are_of_these_sources && touch "$1"; }
}

# Whether the unpacked tools are those of the edition, every byte.
are_unchanged() { (cd "$LAB_BUILD" && sha256sum --check --strict --status "$PREBUILT.tools.sha256" 2>/dev/null); }
