# SPDX-License-Identifier: MIT
"""How ./lab grade-all, ./lab submit and ./lab class end: with exit code 1 for every problem, wrong usage
included, and a line that says what it is."""

import errno
import sqlite3
import sys
from collections.abc import Callable
from typing import NoReturn

DISK_FULL = "The disk is full. Make room, then run the same command again; it goes on from here."


class Problem(Exception):
    """For the person at the keyboard: what is wrong and what to do."""


def run_to_end(run: Callable[[], int], stopped: str = "") -> NoReturn:
    """`stopped`: what to say after Ctrl-C."""
    code = 1
    try:
        code = run()
    except SystemExit as end:  # argparse ends wrong usage with 2
        code = 1 if end.code not in (0, None) else 0
    except Problem as problem:
        print(f"lab: {problem}", file=sys.stderr)
    except (OSError, sqlite3.Error) as error:
        is_full = getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error)
        print(f"lab: {DISK_FULL if is_full else error}", file=sys.stderr)
    except KeyboardInterrupt:
        print(stopped, end="", file=sys.stderr)
    sys.exit(code)
