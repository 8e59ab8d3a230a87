# SPDX-License-Identifier: MIT
"""The files of a repository at its newest commit before a deadline, or at a tag.

    with opened(folder) as one:                 None of a folder that is no repository
        sha, time = one.commit(ref, before)
        one.contents(one.files(sha))

Students may have written all of .git. Its configuration, hooks and attributes are therefore not used: git gets
a folder of its own, with the repository's objects and references. The times are those of commits, which are
what a student's computer said.
"""

import contextlib
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

SECONDS = 60  # for a step of git


class File(NamedTuple):
    path: str
    is_plain: bool
    size: int
    blob: str


class Repository:
    def __init__(self, git: pathlib.Path, own: pathlib.Path) -> None:
        self.environment = {"PATH": os.environ["PATH"], "GIT_DIR": str(own), "LC_ALL": "C"}
        self.environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        self.git("init", "--quiet", "--bare", "--template=", str(own))
        shutil.copytree(git / "refs", own / "refs", symlinks=True, dirs_exist_ok=True)
        for name in ("packed-refs", "HEAD", "shallow"):
            if (git / name).is_file():
                shutil.copyfile(git / name, own / name)
        self.environment["GIT_OBJECT_DIRECTORY"] = str(git.resolve() / "objects")

    def git(self, *words: str, asked: str = "") -> bytes:
        """What it prints; nothing where it fails. `asked`: its input."""
        how: dict = {"input": asked.encode(), "capture_output": True, "check": False, "timeout": SECONDS}
        try:
            done = subprocess.run(["git", *words], env=self.environment, cwd="/", **how)
        except subprocess.TimeoutExpired:
            return b""
        return done.stdout if done.returncode == 0 else b""

    def commit(self, ref: str, before: float) -> tuple[str, float] | None:
        """`ref`: a tag, whose commit it is; or a branch of its origin, or one here ("": the one that is checked
        out), of which it is the newest commit before that time."""
        limit = [] if before == math.inf else [f"--min-age={int(before)}"]
        branches = [f"refs/remotes/origin/{ref}", f"refs/heads/{ref}"] if ref else ["HEAD"]
        ways = [([], f"refs/tags/{ref}")] if ref else []
        for limit, name in [*ways, *((limit, branch) for branch in branches)]:
            if said := self.git("rev-list", "--max-count=1", "--timestamp", *limit, name, "--"):
                time, sha = said.decode().split()
                return sha, float(time)
        return None

    def files(self, sha: str) -> list[File]:
        found = []
        for line in self.git("ls-tree", "-r", "-z", "--long", sha).split(b"\0")[:-1]:
            about, name = line.split(b"\t", 1)
            mode, kind, blob, size = about.decode().split()
            is_plain = kind == "blob" and mode != "120000"
            found.append(File(os.fsdecode(name), is_plain, int(size) if size.isdigit() else 0, blob))
        return found

    def contents(self, files: list[File]) -> list[bytes]:
        said = self.git("cat-file", "--batch", asked="".join(f"{file.blob}\n" for file in files))
        found = []
        for file in files:  # each: a line about it, the contents, the end of a line; some may be missing
            about, _, said = said.partition(b"\n")
            is_there = about.endswith(f" blob {file.size}".encode())
            found.append(said[: file.size] if is_there else b"")
            said = said[file.size + 1 :] if is_there else said
        return found


@contextlib.contextmanager
def opened(folder: str) -> Iterator[Repository | None]:
    """Of a folder with a .git of its own. Objects that lie elsewhere are not looked for."""
    git = pathlib.Path(folder) / ".git"
    parts = (git, git / "objects", git / "refs")
    is_one = all(part.is_dir() and not part.is_symlink() for part in parts)
    with tempfile.TemporaryDirectory(prefix="repository-") as own:
        has_all = is_one and not (git / "objects/info/alternates").exists()
        yield Repository(git, pathlib.Path(own)) if has_all else None
