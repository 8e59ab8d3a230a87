# SPDX-License-Identifier: MIT
"""Whose submission is this? From the names that learning platforms give to folders and files, to a student and a
file name.

    student_of("Ada Lovelace_123_assignsubmission_file")     Moodle, a folder a student or group
                                                             (mod/assign/classes/downloader.php)
    student_of("lovelaceada_LATE_123_456_scan-1.cu")         Canvas, a file a submission (lib/content_zipper.rb)
    student_of("ada.zip")                                    anything else: the name without its ending

Names come from strangers: whatever bytes they hold, `shown` makes of them text that no terminal, page or
spreadsheet obeys, and `slug` a file name.
"""

import hashlib
import re
import unicodedata
from typing import NamedTuple

# Whether an archive can be read is decided by its contents.
ARCHIVES = tuple(
    ".tar.gz .tar.bz2 .tar.xz .tar.zst .tgz .tbz2 .txz .tar .zip .rar .7z .gz .bz2 .xz .zst".split()
)
# Files that students submit by mistake: their endings are no part of a student's name.
MISTAKEN = tuple(
    ".txt .c .cc .cpp .cxx .h .hpp .cuh .py .md .pdf .doc .docx .odt .rtf .ipynb .o .ptx .patch .diff .png .jpg "
    ".jpeg".split()
)
# What a platform puts beside the submissions.
LISTS = (".csv", ".tsv", ".html", ".htm", ".json", ".yml", ".yaml", ".xml", ".xls", ".xlsx", ".ods")
MOODLE = re.compile(r"(?P<name>.+?)(?P<id>_\d+)?_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.S)
CANVAS = re.compile(
    r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_(?:\d+_(?P<rest>.+)|(?P<text>(?:text|link)\.html))", re.S
)
MISNAMED = (".cu.txt", ".cpp")  # what editors and platforms make of .cu


class Owner(NamedTuple):
    student: str  # shown
    file: str  # the name that the file had, "" for a folder of Moodle's; of a name in no platform's form, the entry's
    late: bool


def shown(name: str) -> str:
    """Text for people. Two names never become the same: a backslash is doubled, the rest that is hidden is
    spelled out."""
    out = []
    for char in name:
        if char == "\\":
            out.append("\\\\")
        elif unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            code = ord(char)
            # Bytes that are no UTF-8 come as lone surrogates.
            code = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
            out.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}")
        else:
            out.append(char)
    return "".join(out)


def slug(student: str) -> str:
    """A file name, the same on every machine; another student's is another."""
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,59}", student) and not re.search(r"-[0-9a-f]{10}$", student):
        return student
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'surrogateescape')).hexdigest()[:10]}"


def without_ending(name: str, is_file: bool) -> str:
    for ending in (*ARCHIVES, *MISNAMED, ".cu", *MISTAKEN) if is_file else ():
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def student_of(entry: str, is_file: bool) -> Owner:
    """`entry`: a name directly in the folder of all submissions. The name of a folder has no ending, whatever it
    looks like."""
    # What comes first is the platform's, what comes last the student's, who may choose any name.
    found = CANVAS.fullmatch(entry)
    if found and (found["late"] or not (found["rest"] or "").startswith("assignsubmission_")):
        file = found["rest"] or found["text"]
        return Owner(shown(f"{found['name']}_{found['id']}"), file, found["late"] is not None)
    if found := MOODLE.fullmatch(entry):
        return Owner(shown(found["name"] + (found["id"] or "")), found["rest"], False)
    return Owner(shown(without_ending(entry, is_file)), entry, False)


def without_number(student: str) -> str:
    """Without the number that a browser adds to the name of a second download: "ada" of "ada (1)"."""
    return re.sub(r"(?<=.) ?\(\d{1,3}\)$", "", student, flags=re.S)


def is_kernel(path: str) -> bool:
    return path.lower().endswith(".cu")


def stem_of(file: str) -> str:
    """Without folders, ending and the numbers that platforms and browsers add: scan-1.cu, "scan (2).cu"."""
    stem = file.replace("\\", "/").rsplit("/", 1)[-1].lower()
    ending = next((ending for ending in (*MISNAMED, ".cu") if stem.endswith(ending)), "")
    return re.sub(r"(-\d{1,3}| ?\(\d{1,3}\))$", "", stem.removesuffix(ending))


def lab_of(file: str, labs: list[str]) -> str | None:
    """The lab that a file of this name belongs to."""
    return stem_of(file) if is_kernel(file) and stem_of(file) in labs else None


def lab_included(text: bytes, labs: list[str]) -> str | None:
    """The lab whose header the text includes, when it is one."""
    named = re.findall(rb'^[ \t]*#[ \t]*include[ \t]+"([a-z0-9_]+)/lab\.hpp"', text, re.M)
    known = {found.decode("ascii") for found in named} & set(labs)
    return known.pop() if len(known) == 1 else None
