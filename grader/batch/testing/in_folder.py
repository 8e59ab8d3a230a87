# SPDX-License-Identifier: MIT
"""What tests of the class's commands share: a folder of their own, a stand-in for labcli, and commands."""

import csv
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="class-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def put(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path


def stand_in(folder, **more):
    """The environment in which ./lab finds fake_labcli.py as its labcli."""
    labcli = folder / "build/grader/labcli"
    labcli.parent.mkdir(parents=True)
    shutil.copy(HERE / "fake_labcli.py", labcli)
    labcli.chmod(0o755)
    return {**os.environ, "LAB_BUILD": str(folder / "build"), "LAB_ROOT": str(folder), **more}


def rows_of(path, key):
    """Of a table: its rows by their value in a column."""
    with open(path, encoding="utf-8", newline="") as file:
        return {row[key]: row for row in csv.DictReader(file, strict=True)}


def sql(folder, text, *values):
    """Of a class's book."""
    db = sqlite3.connect(folder / "gradebook.sqlite")
    with db:
        found = db.execute(text, values).fetchall()
    db.close()
    return found


def run(main, words, environment, folder):
    """A command of ./lab in a fork of this process, which has the modules already: starting Python for each
    costs more than what most of them do. The exit code, and what it wrote to stdout and stderr."""
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
