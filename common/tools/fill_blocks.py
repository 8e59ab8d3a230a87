#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills the generated blocks of a text from what the code says, so that no count in it is typed by hand.

    common/tools/fill_blocks.py --labcli build/grader/labcli handouts/01-reduction.md
    common/tools/fill_blocks.py --check ...     # changes nothing; exit code 1 when a block has drifted

Between `<!-- generated: COMMAND ARGUMENTS -->` and `<!-- end generated -->` stands what
`labcli COMMAND ARGUMENTS --markdown` prints.
"""
import argparse
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- generated: ([a-z0-9_ -]+) -->\n)(.*?)(<!-- end generated -->)", re.S)


def filled(text, generate):
    return BLOCK.sub(lambda m: m.group(1) + generate(m.group(2).split()).rstrip("\n") + "\n" + m.group(4), text)


def main():
    parser = argparse.ArgumentParser(description="Fills the generated blocks of texts.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    def generate(command):
        done = subprocess.run([arguments.labcli, *command, "--markdown"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"labcli {' '.join(command)} --markdown failed:\n{done.stderr}")
        return done.stdout

    drifted = []
    for path in arguments.texts:
        text = path.read_text(encoding="utf-8")
        if text.count("<!-- generated:") != len(BLOCK.findall(text)):
            sys.exit(f"{path}: a generated block has no end")
        wanted = filled(text, generate)
        if wanted == text:
            continue
        if arguments.check:
            drifted.append(path)
        else:
            path.write_text(wanted, encoding="utf-8")
    if drifted:
        sys.exit(
            "Generated blocks are out of date. Run\n"
            f"  common/tools/fill_blocks.py --labcli {arguments.labcli} {' '.join(str(p) for p in drifted)}"
        )


if __name__ == "__main__":
    main()
