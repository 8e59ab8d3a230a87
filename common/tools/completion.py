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


def scripts_own(text: str) -> list[str]:
    """The commands that the script's help lists, such as "test [NAME…]   what it does" or "format, tidy   …"."""
    found: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"  ((?:[a-z-]+, )*[a-z-]+)(?: [A-Z\[a-z|]\S*)*  +\S", line):
            found += match.group(1).split(", ")
    return found


def describe(lab: pathlib.Path, labcli: pathlib.Path) -> tuple[dict, list, dict]:
    """{command: {option: the words it takes, None for any, [] for a flag}}, the labs, and their tasks."""
    known: dict = {"commands": {}, "labs": [], "tasks": {}}
    if labcli.is_file():
        done = subprocess.run([labcli, "describe"], check=True, capture_output=True, text=True)
        known = json.loads(done.stdout)
    own = scripts_own(subprocess.run([lab, "help"], capture_output=True, text=True).stdout)
    commands = {name: {} for name in own if name not in known["commands"]} | known["commands"]
    return commands, known["labs"], known["tasks"]


def of_class(folder: pathlib.Path) -> dict[str, list[str]]:
    """{subcommand of ./lab class: its options}; the student edition has none."""
    if not (folder / "options.py").is_file():
        return {}
    sys.path.insert(0, str(folder))
    from options import parser_of

    actions = parser_of()._actions
    (commands,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))
    found = {}
    for name, sub in commands.choices.items():
        options = [option for action in sub._actions for option in action.option_strings]
        found[name] = [option for option in options if option.startswith("--") and option != "--help"]
    return found


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


def script(shell: str, table: dict, labs: list[str], tasks: dict, desk: dict) -> str:
    values = {
        (command, option): taken for command, options in table.items() for option, taken in options.items()
    }
    of_tasks = {key: "$tasks" for key in values if key[1] == "--task"}
    listed = {key: f"'{' '.join(taken)}'" for key, taken in values.items() if taken}
    of_any = {key: "''" for key, taken in values.items() if taken is None and key[1] != "--task"}
    cases = [(key, words) for group in (of_tasks, listed, of_any) for key, words in group.items()]
    parts = {
        "LABS": " ".join(labs),
        "COMMANDS": " ".join(table),
        "TASKS": [f"      {lab}) tasks='{' '.join(ids)}' ;;" for lab, ids in tasks.items()],
        "ALL_TASKS": " ".join(sorted({i for ids in tasks.values() for i in ids})),
        "CHOICES": [f"      '{command} {option}') words={words} ;;" for (command, option), words in cases],
        "OPTIONS": [f"        {command}) words='{' '.join(of)}' ;;" for command, of in table.items() if of],
        "CLASS": " ".join(desk),
        "CLASS_OPTIONS": [f"      *:{name}:-*) words='{' '.join(taken)}' ;;" for name, taken in desk.items()],
    }
    texts = {name: part if isinstance(part, str) else "\n".join(part) for name, part in parts.items()}
    return (ZSH if shell == "zsh" else "") + re.sub(r"@([A-Z_]+)@", lambda m: texts[m[1]], BASH)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in ("bash", "zsh"):
        sys.exit('usage: ./lab completion bash|zsh\nFor example: eval "$(./lab completion bash)"')
    root = pathlib.Path(os.environ["LAB_ROOT"])
    described = describe(root / "lab", pathlib.Path(os.environ["LAB_BUILD"]) / "grader/labcli")
    print(script(sys.argv[1], *described, of_class(root / "grader/desk")))


if __name__ == "__main__":
    main()
