#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills the lines "Predicted (RUNG, …)" in the comments of solutions/ from predictions.toml and the newest
run.

    handouts/scripts/comments.py            # writes
    handouts/scripts/comments.py --check    # changes nothing; exit code 1 when a line has drifted

To add one, write `// Predicted (RUNG)` above a rung, and its row in PREDICTIONS. Further lines are indented.
"""

import argparse
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 110


def lines_of(lab: str, rung: str) -> str:
    """A comment for each prediction of a rung."""
    run = measured.published(lab)
    found = []
    for name, other, exponent, prediction, _ in measured.PREDICTIONS[lab]:
        if name != rung:
            continue
        against = f", against {other}" if other else ""
        result = measured.result_of(lab, name, other, exponent)
        text = f"Predicted ({name}{against}, 2^{exponent} items): {prediction}. Measured: {result} "
        text += f"({run['device'].removeprefix('NVIDIA ')}, {run['date']})."
        found += textwrap.wrap(
            text, WIDTH, initial_indent="// ", subsequent_indent="//   ", break_on_hyphens=False
        )
    if not found:
        sys.exit(f"handouts/predictions.toml has no prediction for {rung} of {lab}")
    return "\n".join(found) + "\n"


def filled(lab: str, text: str) -> str:
    """A source of a lab's solution with what its comments should say."""
    pattern = re.compile(
        r"(?:^// Predicted \((\w+)\b[^\n]*\n(?://   [^\n]*\n)*)(?:^// Predicted \(\1\b[^\n]*\n(?://   [^\n]*\n)*)*",
        re.M,
    )
    return pattern.sub(lambda lines: lines_of(lab, lines[1]), text)


def sources() -> Iterator[tuple[str, pathlib.Path]]:
    """The sources of the solutions that have predictions, by lab."""
    for lab in measured.PREDICTIONS:
        for path in sorted((ROOT / "solutions" / lab).glob("*.cu*")):
            yield lab, path


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Fills predictions and measurements in the comments of solutions/."
    )
    parser.add_argument("--check", action="store_true", help="compare only")
    arguments = parser.parse_args()
    for lab, path in sources():
        text = path.read_text(encoding="utf-8")
        wanted = filled(lab, text)
        if wanted != text and arguments.check:
            sys.exit(
                f"{path.relative_to(ROOT)}: the predictions are out of date. Run handouts/scripts/comments.py"
            )
        if wanted != text:
            path.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
