# SPDX-License-Identifier: MIT
"""Runs a command of ./lab in a fork of this process, which has the modules already: starting Python for each
costs more than what most of them do."""

import os
import sys
import tempfile
import traceback


def run(main, words, environment, folder):
    """The exit code, and what it wrote to stdout and stderr."""
    with tempfile.TemporaryFile() as output:
        if (process := os.fork()) == 0:
            code = 70
            try:
                for stream in (1, 2):
                    os.dup2(output.fileno(), stream)
                sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
                sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)
                os.environ.update(environment)
                os.chdir(folder)
                sys.argv = [main.__module__, *map(str, words)]
                code = main()
            except SystemExit as end:
                code = 1 if end.code not in (0, None) else 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        output.seek(0)
        return ended, output.read().decode()
