# SPDX-License-Identifier: MIT
"""A generated page of the course site: the commands, from the program's own help."""

import pathlib
import re
import subprocess


def help_of(labcli: pathlib.Path, *command: str) -> str:
    return subprocess.run([labcli, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands(root: pathlib.Path, labcli: pathlib.Path) -> str:
    """The reference of ./lab, as the programs themselves tell it."""
    listed = re.split(r"(?im)^sub ?commands:\n", help_of(labcli), maxsplit=1)[1].splitlines()
    names = [line.split()[0] for line in listed if re.match(r"  [a-z]", line)]
    how: dict = {"capture_output": True, "text": True, "check": True}
    environment = {"PATH": "/usr/bin:/bin", "LAB_BUILD": "/nowhere"}
    own = subprocess.run([root / "lab", "help"], env=environment, **how).stdout
    out = ["# Commands", "", "What `./lab` can do, in its own words.", "", "```", own.rstrip(), "```", ""]
    for name in names:
        text = help_of(labcli, name).rstrip().replace(labcli.name + " ", "./lab ")
        out += [f"## ./lab {name}", "", "```", text, "```", ""]
    return "\n".join(out)
