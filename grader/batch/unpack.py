# SPDX-License-Identifier: MIT
"""Reads the .cu files out of a student's .zip or .tar (also compressed). ingest.py calls it in a process of its
own, with little memory and time.

    answer(path)      {"refused": reason or "", "files": {name: base64}, "others": [names]}

An archive within the archive is opened, too; one within that is not. Nothing is ever written. An archive is
refused for an absolute name or one with "..", and for a link or a pipe that is named like a .cu file. What an
archive says of its sizes is not believed: reading stops at the limits.
"""

import base64
import io
import json
import pathlib
import resource
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from typing import BinaryIO

import names

LARGEST_FILE = 1 << 20
LARGEST_ARCHIVE = 16 << 20
MAX_BYTES = 64 << 20  # unpacked
MAX_ENTRIES = 10000
MAX_FILES = 32
SECONDS = 20  # of the processor, for one archive
OTHER_KINDS = {b"Rar!": "RAR", b"7z\xbc\xaf": "7-Zip"}  # by their first bytes


class Refused(Exception):
    """The text is for the student."""


def is_wanted(name: str) -> bool:
    """A .cu file, perhaps with a wrong ending, that is no shadow of one, as macOS adds."""
    parts = name.replace("\\", "/").split("/")
    is_one = name.lower().endswith((".cu", *names.MISNAMED))
    return is_one and not parts[-1].startswith("._") and "__MACOSX" not in parts


def check_name(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or name.startswith(("/", "\\")) or "\0" in name or (len(name) > 1 and name[1] == ":"):
        raise Refused(f"holds the name {name[:200]!r}, which leads out of the archive")


class Found:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.others: list[str] = []
        self.n_entries = self.n_bytes = 0
        self.inside = ""  # the archive within the archive that is being read

    def entry(self, name: str, is_folder: bool, is_file: bool, size: int, read: Callable) -> None:
        self.n_entries += 1
        if self.n_entries > MAX_ENTRIES:
            raise Refused(f"holds more than {MAX_ENTRIES} entries")
        check_name(name)
        is_archive = name.lower().endswith(names.ARCHIVES) and is_file and not self.inside
        most = LARGEST_ARCHIVE if is_archive else LARGEST_FILE
        if is_folder:
            return
        if not is_wanted(name) and not (is_archive and size <= most):
            if len(self.others) < 20:
                self.others.append(self.inside + name[:200])
            return
        if not is_file:
            what = "not a regular file: submit the file itself, no link"
            raise Refused(f"holds {name[:200]!r}, which is {what}")
        is_kernel = names.is_kernel(name)
        if is_kernel and size <= most and sum(map(names.is_kernel, self.files)) >= MAX_FILES:
            raise Refused(f"holds more than {MAX_FILES} .cu files")
        if len(self.files) >= 2 * MAX_FILES:
            return
        data = read(most + 1) if size <= most else b""
        if max(size, len(data)) > most:
            raise Refused(f"holds {name[:200]!r}, which is larger than {most >> 10} KiB")
        self.count(len(data))
        if is_archive:
            self.inside = f"{name}/"
            open_archive(io.BytesIO(data), self)
            self.inside = ""
            return
        name = self.inside + name
        if name in self.files and self.files[name] != data:
            raise Refused(f"holds {name[:200]!r} twice, with different contents")
        self.files[name] = data

    def count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        if self.n_bytes > MAX_BYTES:
            raise Refused(f"unpacks to more than {MAX_BYTES >> 20} MiB")


def read_zip(file: BinaryIO, found: Found) -> None:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.flag_bits & 1 and is_wanted(info.filename):
                raise Refused("is encrypted: hand in one without a password")
            mode = info.external_attr >> 16
            plain = stat.S_IFMT(mode) in (0, stat.S_IFREG)

            def read(n: int, info: zipfile.ZipInfo = info) -> bytes:
                with archive.open(info) as member:
                    return member.read(n)

            found.entry(info.filename, info.is_dir(), plain, info.file_size, read)


def read_tar(file: BinaryIO, found: Found) -> None:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for member in archive:

            def read(n: int, member: tarfile.TarInfo = member) -> bytes:
                source = archive.extractfile(member)
                return source.read(n) if source else b""

            found.entry(member.name, member.isdir(), member.isreg(), member.size, read)
            found.count(member.size)  # before it is passed over


def open_archive(file: BinaryIO, found: Found) -> None:
    begins = file.read(8)
    file.seek(0)
    if other := next((kind for magic, kind in OTHER_KINDS.items() if begins.startswith(magic)), None):
        raise Refused(f"is a {other} archive, which is not opened: submit a .zip or .tar.gz")
    (read_zip if begins.startswith(b"PK") else read_tar)(file, found)


def unpack(path: pathlib.Path) -> Found:
    found = Found()
    if path.stat().st_size > LARGEST_ARCHIVE:
        raise Refused(f"is larger than {LARGEST_ARCHIVE >> 20} MiB")
    try:
        with open(path, "rb") as file:
            open_archive(file, found)
    except Refused:
        raise
    except MemoryError:
        raise Refused("needs more memory to unpack than any submission should") from None
    except Exception as error:  # the libraries raise what they like for damaged archives
        why = f"{type(error).__name__}: {str(error)[:200]}"
        raise Refused(f"can't be read as .zip or .tar.gz: {why}") from None
    return found


def answer(path: str) -> dict:
    try:
        found = unpack(pathlib.Path(path))
    except Refused as reason:
        return {"refused": str(reason), "files": {}, "others": []}
    files = {name: base64.b64encode(data).decode() for name, data in found.files.items()}
    return {"refused": "", "files": files, "others": found.others}


def limit_this_process() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


if __name__ == "__main__":
    limit_this_process()
    print(json.dumps(answer(sys.argv[1])))
