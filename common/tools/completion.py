#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab completion: prints a shell's completion of ./lab, made from the command line's own description
(labcli describe).

usage: ./lab completion bash|zsh          in ~/.bashrc or ~/.zshrc: eval "$(/path/to/lab completion bash)"

Before the tools are built (the first command does that), only the script's own commands are known.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys


def scripts_own(text):
    """The commands that the script's help lists, such as "test [NAME…]   what it does" or "format, tidy   …"."""
    found = []
    for line in text.splitlines():
        if match := re.match(r"  ((?:[a-z-]+, )*[a-z-]+)(?: [A-Z\[a-z|]\S*)*  +\S", line):
            found += match.group(1).split(", ")
    return found


def describe(lab, labcli):
    """{command: {option: the words it takes, None for any, [] for a flag}}, the labs, and their tasks."""
    known = {"commands": {}, "labs": [], "tasks": {}}
    if labcli.is_file():
        known = json.loads(
            subprocess.run([labcli, "describe"], check=True, capture_output=True, text=True).stdout
        )
    own = scripts_own(subprocess.run([lab, "help"], capture_output=True, text=True).stdout)
    return (
        {name: {} for name in own if name not in known["commands"]} | known["commands"],
        known["labs"],
        known["tasks"],
    )


def of_class(folder):
    """{subcommand of ./lab class: its options, each of which takes a file}; the student edition has none."""
    if not (folder / "options.py").is_file():
        return {}
    sys.path.insert(0, str(folder))
    from options import parser_of

    (commands,) = (
        action for action in parser_of()._actions if isinstance(action, argparse._SubParsersAction)
    )
    return {
        name: [
            o
            for action in sub._actions
            for o in action.option_strings
            if o.startswith("--") and o != "--help"
        ]
        for name, sub in commands.choices.items()
    }


BASH = """_lab_complete() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local words='' labs='@LABS@' tasks='' named
  for named in "${COMP_WORDS[@]:2}"; do
    case $named in
@TASKS@
    esac
  done
  [[ -n $tasks ]] || tasks='@ALL_TASKS@'
  if ((COMP_CWORD == 1)); then
    words='@COMMANDS@'
  elif [[ $command = class ]]; then
    case $COMP_CWORD:${COMP_WORDS[2]}:$word in
      2:*) words='@CLASS@' ;;
@CLASS_OPTIONS@
    esac
  else
    case "$command $before" in
@CHOICES@
      *) case $command in
@OPTIONS@
        esac
        # A lab is followed by its task.
        case " $labs " in
          *" $before "*) words="$tasks $words $labs" ;;
          *) words+=" $labs" ;;
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  ((${#COMPREPLY[@]} > 0)) || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _lab_complete lab ./lab"""

ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def script(shell, table, labs, tasks, desk):
    choices = [
        f"      '{command} --task') words=$tasks ;;"
        for command, options in table.items()
        if "--task" in options
    ]
    choices += [
        f"      '{command} {option}') words='{' '.join(values)}' ;;"
        for command, options in table.items()
        for option, values in options.items()
        if values
    ]
    takes_any = [
        f"      '{command} {option}') words='' ;;"
        for command, options in table.items()
        for option, values in options.items()
        if values is None and option != "--task"
    ]
    options = [
        f"        {command}) words='{' '.join(options)}' ;;" for command, options in table.items() if options
    ]
    text = BASH.replace("@LABS@", " ".join(labs)).replace("@COMMANDS@", " ".join(table))
    of_labs = [f"      {lab}) tasks='{' '.join(ids)}' ;;" for lab, ids in tasks.items()]
    text = text.replace("@TASKS@", "\n".join(of_labs)).replace(
        "@ALL_TASKS@", " ".join(sorted({i for ids in tasks.values() for i in ids}))
    )
    text = text.replace("@CHOICES@", "\n".join(choices + takes_any)).replace("@OPTIONS@", "\n".join(options))
    of_desk = [f"      *:{name}:-*) words='{' '.join(taken)}' ;;" for name, taken in desk.items()]
    text = text.replace("@CLASS@", " ".join(desk)).replace("@CLASS_OPTIONS@", "\n".join(of_desk))
    return (ZSH if shell == "zsh" else "") + text


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("bash", "zsh"):
        sys.exit('usage: ./lab completion bash|zsh\nFor example: eval "$(./lab completion bash)"')
    root = pathlib.Path(os.environ["LAB_ROOT"])
    described = describe(root / "lab", pathlib.Path(os.environ["LAB_BUILD"]) / "grader/labcli")
    print(script(sys.argv[1], *described, of_class(root / "grader/desk")))


if __name__ == "__main__":
    main()
