#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything of grader/batch but the grading itself, which testing/fake_labcli.py stands in for.
BATCH_FUZZ=ROUNDS makes the random tests longer."""

import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock
import warnings
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "testing")]

import book
import compare_class
import grade_all
import gradescope_export
import in_folder
import ingest
import make_class
import names
import settings
import source_text
import submit
import unpack
from in_folder import InFolder

LABS = ["reduction", "scan", "hierarchical_scan"]
ROUNDS = int(os.environ.get("BATCH_FUZZ", "500"))  # of a random test


def processes_that_name(text):
    """The command lines of running processes with that text in them."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # ended meanwhile
            continue
        if text in line:
            found.append(line)
    return found


class Names(unittest.TestCase):
    def test_platforms(self):
        of_bob = "Bob_456_assignsubmission_file_scan.cu"
        for entry, student, file, late in [
            ("lovelaceada_12_345_scan.cu", "lovelaceada_12", "scan.cu", False),
            # The last part of a file's name is the student's own, who may dress up as another or hide that it
            # is late.
            (f"Eve_9_assignsubmission_file_{of_bob}", "Eve_9", of_bob, False),
            (f"eve_LATE_9_5_{of_bob}", "eve_9", of_bob, True),
            ("eve_LATE_9_5_assignsubmission_file_scan.cu", "eve_9", "assignsubmission_file_scan.cu", True),
        ]:
            self.assertEqual(names.student_of(entry, True), (student, file, late), entry)

    def test_files(self):
        named = dict.fromkeys(["scan.cu", "a/b/Scan-2.cu", "scan (1).cu", "x\\scan.cu"], "scan")
        named |= {"hierarchical_scan.cu": "hierarchical_scan"}
        named |= dict.fromkeys(["myscan.cu", "scan.cpp", "scan.cu.zip"])
        for name, lab in named.items():
            self.assertEqual(names.lab_of(name, LABS), lab, name)

    def test_what_a_file_includes(self):
        self.assertEqual(names.lab_included(b'// x\n  # include "scan/lab.hpp"\n', LABS), "scan")
        self.assertIsNone(names.lab_included(b'#include "scan/lab.hpp"\n#include "reduction/lab.hpp"', LABS))
        self.assertIsNone(names.lab_included(b'// #include "scan/lab.hpp"', LABS))

    def test_shown_is_harmless_and_tells_names_apart(self):
        random_ = random.Random(1)
        seen = {}
        letters = "a\\x1b\x1b\n\r\u202e\u2028é\0\udce9\uffff\U000e0001 <>"
        for _ in range(20000):
            name = "".join(random_.choice(letters) for _ in range(random_.randrange(6)))
            text = names.shown(name)
            text.encode("utf-8")
            self.assertTrue(all(char.isprintable() for char in text), repr(text))
            self.assertEqual(seen.setdefault(text, name), name)

    def test_slugs_are_file_names_and_differ(self):
        slugs = {}
        for student in ["a" * 300, *"Ada|ada|ADA|ada/../x|..||李|con|ada-0123456789|<b>|Ada ".split("|")]:
            made = names.slug(student)
            self.assertRegex(made, r"^[a-z0-9][a-z0-9._-]{0,80}$")
            self.assertEqual(slugs.setdefault(made, student), student)


class TheBook(InFolder):
    def setUp(self):
        super().setUp()
        self.book = book.Book(self.folder / "class", begins=True)
        self.addCleanup(self.book.db.close)
        self.addCleanup(self.book.lock.close)
        self.book.settle({"seed": "0x5", "device": None, "task": None})

    def receive(self, source, student="ada"):
        one = ingest.Submission(student, "scan", source, "" if source else "why")
        return self.book.take_in([one])

    def graded(self, points, source, digest):
        """An attempt that has ended, by one version of the lab."""
        self.book.digests["scan"] = digest
        unit = self.book.unit("scan", hashlib.sha256(source).hexdigest())
        attempt = self.book.begin(unit)
        if points is not None:
            task = {"id": "one", "verdict": "OK", "message": "", "points": points, "max_points": 9}
            lab = {"id": "scan", "points": points, "max_points": 9, "bonus_points": 0, "tasks": [task]}
            text = json.dumps({"labs": [lab], "seed": self.book.seed_of(unit)})
            for ending in (".json", ".student.json"):
                self.book.result_path(unit, attempt).with_suffix(ending).write_text(text)
        outcome = self.book.end(unit, attempt)
        with self.book.db:
            self.book.use_points()
        return outcome

    def points(self, digest):
        """Of all submissions, in order, with that version of the lab."""
        with self.book.db:
            self.book.insert("labs", lab="scan", digest=digest)
        return [tuple(row) for row in self.book.rows("SELECT status, points FROM submissions ORDER BY id")]

    def test_takes_in_what_is_new(self):
        self.assertEqual([self.receive(one) for one in (b"1", b"1", None, None, b"1")], [1, 0, 1, 0, 1])
        self.assertEqual(
            self.points("old"), [("pending", None), ("refused", 0), ("pending", None)], "a list counts up"
        )

    def test_the_attempt_that_counts(self):
        for source in (b"1", b"2"):
            self.receive(source)
            self.assertEqual(self.graded(len(source) + int(source), source, "old"), "graded")
        self.assertEqual(self.points("old"), [("graded", 2), ("graded", 3)])
        self.assertEqual(self.points("new"), [("graded", 2), ("graded", 3)], "they keep theirs")
        self.graded(9, b"2", "new")
        self.assertEqual(self.points("new"), [("graded", 2), ("graded", 9)])
        self.assertEqual(self.points("old"), [("graded", 2), ("graded", 3)], "of the version that is in use")

    def test_faults_of_the_machine(self):
        self.receive(b"1")
        self.assertEqual(self.graded(None, b"1", "old"), "infra")
        self.assertEqual(self.points("old"), [("infra", None)])
        self.assertIn("without a result", self.book.value("SELECT message FROM latest"))

    def test_a_folder_of_an_earlier_version_is_refused(self):
        self.put("old/ledger.jsonl")
        for begins in (False, True):
            with self.assertRaisesRegex(settings.Problem, "another version.* Commit [0-9a-f]{8} reads it"):
                book.Book(self.folder / "old", begins)
        sqlite3.connect(self.folder / "class/gradebook.sqlite").executescript("PRAGMA user_version = 99")
        with self.assertRaisesRegex(settings.Problem, "version"):
            book.Book(self.folder / "class")


class Unpack(InFolder):
    def unpack(self, data):
        return unpack.unpack(self.put("archive", data))

    def refused(self, data):
        with self.assertRaises(unpack.Refused) as caught:
            self.unpack(data)
        return str(caught.exception)

    def test_takes_only_kernels(self):
        entries = [
            ("a/scan.cu", b"1"),
            ("b.txt", b"2"),
            ("__MACOSX/a/._scan.cu", b"3"),
            ("x/._scan.cu", b"4"),
        ]
        for data in (make_class.zipped(entries), make_class.tarred(entries), make_class.tarred(entries, "w")):
            found = self.unpack(data)
            self.assertEqual(found.files, {"a/scan.cu": b"1"})
            self.assertIn("b.txt", found.others)

    def test_one_name_twice(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile's own, about the name
            self.assertIn("twice", self.refused(make_class.zipped([("scan.cu", b"1"), ("scan.cu", b"2")])))
            self.assertEqual(
                self.unpack(make_class.zipped([("scan.cu", b"1"), ("scan.cu", b"1")])).files,
                {"scan.cu": b"1"},
            )
        self.assertIn("twice", self.refused(make_class.tarred([("scan.cu", b"1"), ("scan.cu", b"2")])))

    def test_damaged_archives_never_raise_anything_else(self):
        random_ = random.Random(3)
        entries = [
            ("a/scan.cu", b"int main() {}" * 50),
            ("reduction.cu", random_.randbytes(300)),
            ("notes", b"n" * 3000),
        ]
        seeds = [make_class.zipped(entries), make_class.tarred(entries), make_class.tarred(entries, "w")]
        for _ in range(ROUNDS):
            data = bytearray(random_.choice(seeds))
            for _ in range(random_.randrange(1, 6)):
                at = random_.randrange(len(data))
                what = random_.randrange(4)
                if what == 0:
                    data[at] = random_.randrange(256)
                elif what == 1:
                    del data[at : at + random_.randrange(1, 40)]
                elif what == 2:
                    data[at:at] = data[random_.randrange(len(data)) :][: random_.randrange(60)]
                else:
                    data[at : at + 4] = random_.choice(
                        [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"]
                    )
                if not data:
                    data = bytearray(b"PK")
            try:
                for content in self.unpack(bytes(data)).files.values():
                    self.assertLessEqual(len(content), unpack.LARGEST_FILE)
            except unpack.Refused:
                pass


def tar_entry(name, kind=tarfile.REGTYPE, **more):
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in more.items():
        setattr(info, key, value)
    return info


def zip_entry(name, mode=0, **more):
    info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
    info.external_attr = mode << 16
    for key, value in more.items():
        setattr(info, key, value)
    return info


def lying(data, where, offset, n_bytes, value):
    """The bytes of a zip with one field of a header changed."""
    data = bytearray(data)
    at = data.index(where) + offset
    data[at : at + n_bytes] = value.to_bytes(n_bytes, "little")
    return bytes(data)


def hostile_submissions(test):
    """By student: a part of the reason for refusing it, and the source that is taken; "" and None where
    nothing is found."""
    zipped, tarred, cu = make_class.zipped, make_class.tarred, "reduction.cu"
    plain = zipped([(cu, b"fine")])
    small_bomb = b"\0" * (unpack.LARGEST_FILE + 1)
    nested = plain
    for _ in range(30):
        nested = zipped([("inner.zip", nested)])
    sparse = bytearray(tarred([(cu, b"x" * 600)], "w"))
    sparse[124:136] = b"77777777777\0"  # says it holds 8 GiB
    sparse[148:156] = b"%06o\0 " % (sum(sparse[:148]) + 8 * 32 + sum(sparse[156:512]))
    overlapping = zipped([(f"{i}.cu", b"\0" * 1000) for i in range(4)] + [(cu, b"fine")])
    first = overlapping.index(b"PK\1\2")
    for _ in range(3):  # several names, one member
        at = overlapping.index(b"PK\1\2", first + 1)
        overlapping = (
            overlapping[: at + 42]
            + overlapping[overlapping.index(b"PK\1\2") + 42 :][:4]
            + overlapping[at + 46 :]
        )
        first = at
    out = "leads out"
    link = "regular file"
    lies_packed = lying(plain, b"PK\1\2", 20, 4, 0x7FFFFFFF)
    try:  # a newer Python takes an entry that reaches into the next one for a bomb
        zipfile.ZipFile(io.BytesIO(lies_packed)).read(cu)
        about_packed = ""
    except zipfile.BadZipFile:
        about_packed = "can't be read"
    archives = {
        # Slip
        "slip up.zip": (zipped([("../reduction.cu", b"1")]), out),
        "slip deep.zip": (zipped([("a/b/../../../reduction.cu", b"1")]), out),
        "slip root.zip": (zipped([("/reduction.cu", b"1")]), out),
        "slip windows.zip": (zipped([("..\\reduction.cu", b"1")]), out),
        "slip drive.zip": (zipped([("C:reduction.cu", b"1")]), out),
        "slip beside.zip": (zipped([(cu, b"1"), ("../x.txt", b"2")]), out),
        "slip up.tar.gz": (tarred([("../reduction.cu", b"1")]), out),
        "slip root.tar": (tarred([("/etc/reduction.cu", b"1")], "w"), out),
        # Links and devices
        "symlink.zip": (zipped([(zip_entry(cu, stat.S_IFLNK | 0o777), b"/etc/passwd")]), link),
        "pipe.zip": (zipped([(zip_entry(cu, stat.S_IFIFO | 0o777), b"")]), link),
        "device.zip": (zipped([(zip_entry(cu, stat.S_IFBLK | 0o777), b"")]), link),
        "socket.zip": (zipped([(zip_entry(cu, stat.S_IFSOCK | 0o777), b"")]), link),
        "symlink.tar": (tarred([(tar_entry(cu, tarfile.SYMTYPE, linkname="/etc/passwd"), b"")], "w"), link),
        "hard link.tar": (tarred([(tar_entry(cu, tarfile.LNKTYPE, linkname="/etc/passwd"), b"")], "w"), link),
        "link then through it.tar": (
            tarred(
                [(tar_entry("a.cu", tarfile.SYMTYPE, linkname="/etc"), b""), ("a.cu/reduction.cu", b"1")], "w"
            ),
            link,
        ),
        "pipe.tar": (tarred([(tar_entry(cu, tarfile.FIFOTYPE), b"")], "w"), link),
        "character device.tar": (
            tarred([(tar_entry(cu, tarfile.CHRTYPE, devmajor=1, devminor=5), b"")], "w"),
            link,
        ),
        "block device.tar": (
            tarred([(tar_entry(cu, tarfile.BLKTYPE, devmajor=8, devminor=0), b"")], "w"),
            link,
        ),
        # Bombs
        "bomb.zip": (zipped([(cu, small_bomb)]), "larger than"),
        "bomb.tar.gz": (tarred([(cu, small_bomb)]), "larger than"),
        "bomb beside.tar.gz": (
            tarred([("x", b"\0" * (unpack.MAX_BYTES + 1)), (cu, b"1")]),
            "unpacks to more",
        ),
        "many entries.zip": (zipped([(f"{i}", b"") for i in range(unpack.MAX_ENTRIES + 1)]), "entries"),
        "many files.tar.gz": (tarred([(f"{i}.cu", b"") for i in range(unpack.MAX_FILES + 1)]), ".cu files"),
        "large.zip": (b"PK" + b"\0" * unpack.LARGEST_ARCHIVE, "larger than"),
        "overlapping.zip": (overlapping, "can't be read"),
        # Lies
        "lies small.zip": (lying(zipped([(cu, small_bomb)]), b"PK\1\2", 24, 4, 10), "can't be read"),
        "lies large.zip": (lying(plain, b"PK\1\2", 24, 4, 0xFFFFFFF0), "larger than"),
        "lies packed.zip": (lies_packed, about_packed),
        "lies offset.zip": (lying(plain, b"PK\1\2", 42, 4, 0x7FFFFFFF), "can't be read"),
        "lies checksum.zip": (lying(plain, b"PK\1\2", 16, 4, 1), "can't be read"),
        "lies method.zip": (lying(plain, b"PK\1\2", 10, 2, 99), "can't be read"),
        "lies directory.zip": (lying(plain, b"PK\5\6", 10, 2, 60000), ""),
        "lies size.tar": (bytes(sparse), "larger than"),
        "half.zip": (plain[: len(plain) // 2], "can't be read"),
        "half.tar.gz": (tarred([(cu, b"1" * 5000)])[:60], "can't be read"),
        "a picture.zip": (b"\x89PNG\r\n" * 99, "can't be read"),
        "nothing.zip": (b"", "can't be read"),
        "password.zip": (lying(plain, b"PK\1\2", 8, 2, 1), "password"),
        # Names
        "nul.zip": (zipped([("a?reduction.cu", b"fine")]).replace(b"a?red", b"a\0red"), ""),
        "escapes.zip": (zipped([("\x1b[31m/../x", b"1")]), out),
        "no text.tar": (tarred([("\udcff/reduction.cu", b"fine")], "w"), ""),
        "no text.zip": (zipped([("n?_/reduction.cu", b"fine")]).replace(b"n?_/", b"n\xff\xfe/"), ""),
        "long name.tar": (tarred([("d/" * 3000 + cu, b"fine")], "w"), ""),
        "twice.tar": (tarred([(cu, b"1"), (cu, b"2")], "w"), "twice"),
        "two.zip": (zipped([("a/reduction.cu", b"1"), ("b/reduction.cu", b"2")]), "more than one file"),
        # Nesting
        "nested.zip": (nested, ""),
        "other kind.zip": (tarred([(cu, b"fine")]), ""),
    }
    expected = {}
    for name, (data, reason) in archives.items():
        test.put(name, data)
        nothing = {"nested", "nul"}
        source = None if reason or names.without_ending(name, True) in nothing else b"fine"
        kind = name.split(".", 1)[1].replace(".", " ")
        student = f"{names.without_ending(name, True)} {kind}"
        os.rename(test.folder / name, test.folder / f"{student}.{name.split('.', 1)[1]}")
        expected[student] = (reason, source)
    # Folders
    deep = test.folder / "deep"
    deep.mkdir()
    for _ in range(ingest.DEPTH + 2):
        deep = deep / "d"
        deep.mkdir()
    (deep / cu).write_text("too deep", encoding="utf-8")
    expected["deep"] = ("", None)
    for name, make in {
        "pipe inside": os.mkfifo,
        "link inside": lambda path: os.symlink("/etc/passwd", path),
        "folder of that name": lambda path: os.makedirs(f"{path}/x"),
    }.items():
        (test.folder / name).mkdir()
        make(f"{test.folder}/{name}/{cu}")
        expected[name] = ("file" if "folder" not in name else "", None)
    (test.folder / "loop").mkdir()
    os.symlink(".", test.folder / "loop/again")
    expected["loop"] = ("", None)
    test.put("many archives/x/reduction.cu", "fine")
    for i in range(ingest.MAX_ARCHIVES + 1):
        test.put(f"many archives/{i}.zip", plain)
    expected["many archives"] = ("", b"fine")
    os.symlink("/etc", test.folder / "link to a folder")
    expected["link to a folder"] = ("regular file", None)
    return expected


class Ingest(InFolder):
    def take(self, wanted=()):
        submissions, labs = ingest.ingest(str(self.folder), LABS, list(wanted))
        return {(one.student, one.lab): one for one in submissions}, labs

    def test_every_container_and_name(self):
        folder = str(self.folder)
        expected = {}
        for number in range(2 * len(make_class.NAMES) * 5):
            name = make_class.NAMES[number % len(make_class.NAMES)] + f" {number}"
            expected[make_class.pack(folder, number, name, f"{number}".encode())] = f"{number}".encode()
        taken, labs = self.take()
        self.assertEqual(labs, ["reduction"])
        self.assertEqual({student: one.source for (student, _), one in taken.items()}, expected)

    def test_hostile_submissions_each_get_their_reason(self):
        """Slip, links, devices, bombs, lies, odd names, nesting, depth: the one who sent it, and nobody
        else."""
        expected = hostile_submissions(self)
        self.put("good/reduction.cu", "fine")
        self.assertGreaterEqual(len(expected), 38)
        begun = time.process_time()
        taken, _ = self.take(["reduction"])
        self.assertLess(time.process_time() - begun, 60)
        self.assertEqual(
            {student for student, _ in taken}, {names.shown(name) for name in expected} | {"good"}
        )
        for name, (reason, source) in expected.items():
            with self.subTest(name):
                one = taken[names.shown(name), "reduction"]
                self.assertEqual(one.source, source, one.refused)
                self.assertIn(reason, one.refused)
                self.assertTrue(one.refused.isprintable(), "people read this")
                self.assertTrue(
                    one.refused
                    or one.source
                    or f"Nothing for this lab was found in {names.shown(name)}" in one.origin,
                    one.origin,
                )
                self.assertLess(len(one.refused), 1000)
        self.assertEqual(taken["good", "reduction"].source, b"fine")
        for place in (self.folder, *self.folder.parents, pathlib.Path("/etc")):
            for name in ("reduction.cu", "x.txt"):
                self.assertFalse((place / name).exists(), "nothing was unpacked anywhere")

    def test_a_lab_for_itself(self):
        self.put("ada/scan.cu", "s")
        self.put("ada/labs/reduction/reduction.cu", "r")
        self.put("ada/old/reduction.cu", "not this one")
        self.put("bob.cu", '#include "scan/lab.hpp"\n')
        self.put("eve.cu", "int x;")
        taken, labs = self.take()
        self.assertEqual(labs, ["reduction", "scan"])
        self.assertEqual(taken["ada", "scan"].source, b"s")
        self.assertEqual(taken["ada", "reduction"].source, b"r")
        self.assertIsNotNone(taken["bob", "scan"].source)
        self.assertIsNone(taken["bob", "reduction"].source)
        self.assertIsNone(taken["eve", "scan"].source)

    def test_empty_files_are_called_empty(self):
        for name in ("ada/reduction.cu", "bob/solution.cu", "eve.cu"):
            self.put(name, " \n")
        self.put("fay/reduction.cu", "")
        self.put("fay/old/reduction.cu", "int x;")
        taken, _ = self.take(["reduction"])
        self.assertIn("ada/reduction.cu is empty", taken["ada", "reduction"].refused)
        for name, path in (("bob", "bob/solution.cu"), ("eve", "eve.cu")):
            self.assertIn(f"{path}: the file is empty", taken[name, "reduction"].origin)
            self.assertNotIn("not named", taken[name, "reduction"].origin)
        self.assertEqual(taken["fay", "reduction"].source, b"int x;")

    def test_of_attachments_an_hour_apart_the_newer_counts(self):
        for name, text, when in (
            ("evaeva_123_1_reduction.cu", "// old", 1000),
            ("evaeva_123_2_reduction-1.cu", "// new", 4600),
            ("bobbob_124_3_reduction.cu", "// one", 1000),
            ("bobbob_124_4_reduction-1.cu", "// two", 1001),
            ("Cy_5_assignsubmission_file_/reduction.cu", "// new", 4600),
            ("Cy_5_assignsubmission_file_/reduction (1).cu", "// old", 1000),
        ):
            os.utime(self.put(name, text), (when, when))
        taken, _ = self.take(["reduction"])
        for name in ("evaeva_123", "Cy_5"):
            self.assertEqual(taken[name, "reduction"].source, b"// new")
            self.assertIn("it is newer than", taken[name, "reduction"].note)
        self.assertIn("more than one file", taken["bobbob_124", "reduction"].refused)

    def test_names_that_only_some_machines_tell_apart(self):
        self.put("ada.zip", make_class.zipped([("reduction.cu", b"1"), ("Reduction.CU", b"2")]))
        self.put("bob.zip", make_class.zipped([("reduction.cu", b"1"), ("REDUCTION.cu", b"1")]))
        taken, _ = self.take(["reduction"])
        self.assertIn("more than one file", taken["ada", "reduction"].refused)
        self.assertEqual(taken["bob", "reduction"].source, b"1")

    def test_a_repository_with_its_build_folder_is_no_crowd(self):
        self.put("ada/a/scan.cu", "s")
        self.put("ada/z/build.ninja")
        self.put("ada/z/lab/scan.cu", "made by the build")
        for name in ("ada/z", "ada/venv", "ada/.git"):
            for i in range(50):
                self.put(f"{name}/{i}")
        with unittest.mock.patch.object(ingest, "MAX_ENTRIES", 100):
            taken, _ = self.take()
        self.assertEqual((taken["ada", "scan"].source, taken["ada", "scan"].refused), (b"s", ""))

    def test_an_archive_that_stops_its_reader_costs_nobody_else(self):
        for student in ("ada", "bob", "cy"):
            self.put(f"{student}.zip", make_class.zipped([("scan.cu", student.encode())]))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        reader = pathlib.Path(folder.name) / "reader.py"
        reader.write_text(
            "import os, signal, sys\n"
            "if sys.argv[1].endswith('bob.zip'):\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
            f"os.execv(sys.executable, [sys.executable, {unpack.__file__!r}, sys.argv[1]])\n"
        )
        with (
            unittest.mock.patch.object(unpack, "__file__", str(reader)),
            unittest.mock.patch.object(ingest, "SECONDS_TO_UNPACK", 8),
        ):
            taken, _ = self.take()
        self.assertEqual(
            [taken[student, "scan"].source for student in ("ada", "bob", "cy")], [b"ada", None, b"cy"]
        )
        self.assertIn("can't be unpacked", taken["bob", "scan"].refused)

    def test_every_entry_has_a_row_and_a_reason(self):
        inner = make_class.zipped([("scan.cu", b"s")])
        deep = "/".join(["d"] * 60)
        self.put("rar.rar", b"Rar!\x1a\x07\x00 and more")
        self.put("seven.7z", b"7z\xbc\xaf\x27\x1c")
        self.put("folder with rar/scan.rar", b"Rar!\x1a\x07\x00 and more")
        self.put("text.txt", "my code")
        self.put("no ending", "my code")
        self.put("wide/scan.cu", '#include "scan/lab.hpp"\n'.encode("utf-16"))
        self.put("wide bare.cu", '#include "scan/lab.hpp"\n'.encode("utf-16-le"))
        twice = make_class.zipped([("inner.zip", make_class.zipped([("third.zip", inner)]))])
        self.put("nested.zip", twice)
        self.put(f"deep/{deep}/scan.cu", "s")
        (self.folder / "empty").mkdir()
        self.put("empty archive.zip", make_class.zipped([]))
        self.put("wrong name/kernel.cu", "int x;")
        self.put("wrong ending/scan.cpp", "int x;")
        self.put("Ada_7_assignsubmission_file/scan.docx", "x")
        self.put("Bob_8_assignsubmission_file_scan.docx", "x")
        self.put("good/scan.cu", "fine")
        self.put("grades.csv", "the platform's own")
        taken, labs = self.take()
        self.assertEqual(labs, ["scan"])
        refused = "rar: RAR; seven: 7-Zip; folder with rar: RAR; wide: UTF-16; wide bare: UTF-16"
        passed_over = (
            f"text: text.txt; no ending: no ending; nested: third.zip; deep: deeper than {ingest.DEPTH}; "
            "empty: empty; empty archive: empty; wrong name: kernel.cu; wrong ending: scan.cpp; "
            "Ada_7: scan.docx; Bob_8: scan.docx"
        )
        for row in [*refused.split("; "), *passed_over.split("; ")]:
            student, reason = row.split(": ")
            with self.subTest(student):
                one = taken.pop((student, "scan"))
                self.assertIsNone(one.source)
                self.assertEqual(bool(one.refused), row in refused.split("; "), one)
                self.assertIn(reason, one.refused or one.origin)
        self.assertEqual([student for student, _ in taken], ["good"])
        self.assertEqual(ingest.ignored(str(self.folder)), ["grades.csv"])

    def test_folders_keep_their_names(self):
        for name in ("john.c", "john.h", "john.zip"):
            self.put(f"{name}/scan.cu", name)
        taken, _ = self.take()
        self.assertEqual(
            {student: one.source for (student, _), one in taken.items()},
            {"john.c": b"john.c", "john.h": b"john.h", "john.zip": b"john.zip"},
        )

    def test_what_is_passed_over_is_reported_and_hides_nothing(self):
        self.put("ada/build.ninja")
        self.put("ada/scan.cu", "s")
        self.put("bob/.cache/scan.cu", "s")
        for i in range(ingest.MAX_ARCHIVES + 1):
            self.put(f"cy/subprojects/packagecache/{i}.zip", make_class.zipped([("x", b"")]))
        self.put("cy/labs/scan/scan.cu", "s")
        self.put("dan/reduction.cu", "int x;".encode("utf-16"))
        self.put("eve/reduction.cu", "x" * (unpack.LARGEST_FILE + 1))
        taken, _labs = self.take(["scan"])
        self.assertEqual([taken[student, "scan"].source for student in ("ada", "cy")], [b"s", b"s"])
        self.assertIn("not searched: bob/.cache", taken["bob", "scan"].origin)
        self.assertIn("of another lab: dan/reduction.cu", taken["dan", "scan"].origin)
        self.assertIn("eve/reduction.cu is larger than", taken["eve", "scan"].origin)

    def test_no_text_takes_long_to_compare(self):
        many = 10**5
        for text in (
            '"' + '\\"' * many,
            "'" + "\\'" * many,
            "/*" * many,
            '"' * many,
            "\n" * many,
            "\\\n" * many,
        ):
            begun = time.process_time()
            source_text.code_of(text)
            names.lab_included(text.encode(), LABS)
            self.assertLess(time.process_time() - begun, 60)
        self.assertEqual(source_text.code_of("a 'b\nc // d"), "a'bc")

    def test_numbered_copies_are_one_student(self):
        def put(name, data, when):
            os.utime(self.put(name, data), (when, when))

        def archive(text):
            return make_class.zipped([("scan.cu", text)])

        put("ada.zip", archive(b"new"), 2000)
        put("ada (1).zip", archive(b"old"), 1000)
        put("bob.zip", archive(b"old"), 1000)
        put("bob (1).tar.gz", make_class.tarred([("scan.cu", b"new")]), 2000)
        put("dan.zip", archive(b"fine"), 1000)
        put("dan (1).rar", b"Rar!\x1a\x07\x00", 2000)
        put("eve (1).zip", archive(b"a group"), 1000)
        put("eve (2).zip", archive(b"another group"), 1000)
        put("fay.zip", archive(b"one"), 1000)
        put("fay.tar.gz", make_class.tarred([("scan.cu", b"two")]), 1001)
        put("gus.zip", archive(b"same"), 1000)
        put("gus (1).zip", archive(b"same"), 2000)
        taken, _ = self.take()
        found = {student: one.source for (student, _), one in taken.items()}
        wanted = {"ada": b"new", "bob": b"new", "dan": b"fine", "fay": None, "gus": b"same"}
        self.assertEqual(found, wanted | {"eve (1)": b"a group", "eve (2)": b"another group"})
        self.assertIn("newer than ada (1).zip", taken["ada", "scan"].note)
        self.assertIn("newer than bob.zip", taken["bob", "scan"].note)
        self.assertEqual((taken["bob", "scan"].submitted, taken["ada", "scan"].submitted), (2000, 2000))
        self.assertIn("RAR", taken["dan", "scan"].note)
        self.assertIn("fay.tar.gz", taken["fay", "scan"].refused)
        self.assertEqual(taken["gus", "scan"].note, "")

    def test_right_code_under_a_wrong_name_is_graded_with_a_note(self):
        code = '#include "scan/lab.hpp"\n'
        self.put("ada/scan.cu.txt", code)
        self.put("bob/Scan.cpp", code)
        self.put(
            "cy.zip", make_class.zipped([("work/scan.zip", make_class.zipped([("scan.cu", b"zipped")]))])
        )
        self.put("dan_1_assignsubmission_file/scan.cu.txt", code)
        self.put("eve.cu.txt", code)
        self.put("fay/scan.cu", "right name")
        self.put("fay/scan.cpp", code)
        self.put("gus/scan.cpp", "int x;")
        taken, _ = self.take(["scan"])
        for student, part in (
            ("ada", "ada/scan.cu.txt was graded"),
            ("bob", "its name should be scan.cu"),
            ("cy", "archive within an archive"),
            ("dan_1", "scan.cu.txt was graded"),
            ("eve", "eve.cu.txt was graded"),
        ):
            one = taken[student, "scan"]
            self.assertEqual(one.source, b"zipped" if student == "cy" else code.encode(), student)
            self.assertIn(part, one.note)
        self.assertEqual((taken["fay", "scan"].source, taken["fay", "scan"].note), (b"right name", ""))
        self.assertIn("not a .cu file: gus/scan.cpp", taken["gus", "scan"].origin)

    GRADESCOPE = """---
submission_11:
  :submitters:
  - :name: Ada O'Neil
    :sid: '1001'
    :email: ada@uni.example
  :created_at: 2026-10-05 20:04:06.123456000 -07:00
  :score: 5.0
  :results:
    :created_at: 2020-01-01 00:00:00.000000000 Z
  :history:
  - :id: 3
    :created_at: 2026-10-01 00:00:00.000000000 Z
submission_12:
  :submitters:
  - :name: 'Bob: a name'
    :sid: ''
    :email: bob@uni.example
  - :name: Cy
    :sid: '1003'
    :email: cy@uni.example
  :created_at: 2026-10-05 22:04:06.000000000 Z
submission_13:
  :submitters:
  - :name: Nobody's folder
    :sid: '1004'
"""

    def test_gradescopes_own_export(self):
        self.put("submission_metadata.yml", self.GRADESCOPE)
        self.put("submission_11/scan.cu", "1")
        self.put("submission_12/code/scan.cu", "2")
        self.put("submission_77/scan.cu", "3")
        taken, labs = self.take()
        self.assertEqual(labs, ["scan"])
        hour = 3600
        due = 1791237846  # 2026-10-05 22:04:06 in UTC
        wanted = {"1001": (b"1", due + 5 * hour), "bob@uni.example": (b"2", due), "1003": (b"2", due)}
        found = {student: (one.source, one.submitted) for (student, _), one in taken.items()}
        self.assertEqual({student: one for student, one in found.items() if student[0] != "s"}, wanted)
        self.assertEqual(taken["submission_77", "scan"].source, b"3", "whose it is has to be looked up")
        self.assertEqual(ingest.ignored(str(self.folder)), ["submission_metadata.yml"])
        outer = self.folder.with_name(self.folder.name + "-outer")
        self.addCleanup(shutil.rmtree, outer)
        shutil.copytree(self.folder, outer / "assignment_5_export")
        self.assertEqual(gradescope_export.root_of(outer), outer / "assignment_5_export")
        self.assertEqual(gradescope_export.root_of(self.folder), self.folder)
        (outer / "ada").mkdir()
        self.assertEqual(gradescope_export.root_of(outer), outer, "with others beside it, it is one of them")
        shutil.rmtree(outer / "assignment_5_export")
        (outer / "ada/submission_metadata.yml").write_text(self.GRADESCOPE)
        (outer / "ada/submission_11").mkdir()
        (outer / "ada/submission_11/scan.cu").write_text("mine")
        self.assertEqual(gradescope_export.root_of(outer), outer, "a student's own list")
        taken, _ = ingest.ingest(str(outer), LABS, ["scan"])
        self.assertEqual([(one.student, one.source) for one in taken], [("ada", b"mine")])

    def test_moodles_download(self):
        """As mod/assign/classes/downloader.php names folders and files, of students and of groups."""
        for name in (
            "Ada Lovelace_812_assignsubmission_file/scan.cu",
            "Bob Ng_813_assignsubmission_file_/deep/scan.cu",
            "Team Red_41_assignsubmission_file/scan.cu",
            "Default group_assignsubmission_file/scan.cu",
            "Cy_814_assignsubmission_onlinetext/onlinetext.html",
            "Dan_815_assignsubmission_file_scan.cu",
        ):
            os.utime(self.put(name, name), (5000, 5000))
        taken, _ = self.take()
        names_of = {student: one.source is not None for (student, _), one in taken.items()}
        right = ("Ada Lovelace_812", "Bob Ng_813", "Team Red_41", "Default group", "Dan_815")
        self.assertEqual(names_of, {**dict.fromkeys(right, True), "Cy_814": False})
        self.assertEqual({one.submitted for one in taken.values()}, {5000, 0})
        self.assertIn("onlinetext.html", taken["Cy_814", "scan"].origin)

    def test_canvas_download(self):
        """As lib/content_zipper.rb names files: name, LATE (for all of a student), id, number, name."""
        for name in (
            "lovelaceada_40012_77_scan.cu ngbob_LATE_40013_78_scan-2.cu ngbob_LATE_40013_79_notes.pdf "
            "ngbob_40013_81_reduction.cu öz李_40014_80_scan.zip diazcy_40015_text.html"
        ).split():
            data = make_class.zipped([("scan.cu", b"z")]) if name.endswith("zip") else name
            self.put(name, data)
        taken, _ = self.take()
        found = {key: (one.source is not None, one.late) for key, one in taken.items()}
        self.assertLessEqual(
            {
                ("lovelaceada_40012", "scan"): (True, False),
                ("ngbob_40013", "scan"): (True, True),
                ("ngbob_40013", "reduction"): (True, True),
                ("öz李_40014", "scan"): (True, False),
                ("diazcy_40015", "scan"): (False, False),
            }.items(),
            found.items(),
        )

    def commit(self, student, text, when, *more):
        """Another commit of a student's repository, with labs/scan/scan.cu."""
        path = self.folder / student
        if not path.exists():
            path.mkdir()
            self.git(student, "init", "--quiet", "--initial-branch=main")
        self.put(f"{student}/labs/scan/scan.cu", text)
        self.git(student, "add", "--all")
        date = f"@{when} +0000"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        self.git(student, "commit", "--quiet", "-m", text, **dates)
        for words in more:
            self.git(student, *words.split())

    def git(self, student, *words, **more):
        who = ["-c", "user.name=x", "-c", "user.email=x@x"]
        command = ["git", "-C", str(self.folder / student), *who, *words]
        subprocess.run(command, check=True, env={**os.environ, **more}, stdout=subprocess.DEVNULL)

    def test_of_a_repository_the_newest_commit_before_the_deadline_counts(self):
        for text, when in (("first", 1000), ("in time", 2000), ("late", 3000)):
            self.commit("ada", text, when)
        self.commit("bob", "late", 3000)
        self.commit("cy", "tagged", 1500, "tag final")
        self.commit("cy", "in time", 2000, "switch --quiet --create other")
        self.commit("cy", "on another branch", 2100)
        (self.folder / "ada/labs/scan/scan.cu").write_text("not committed")

        def take(ref, *limits):
            limits = limits or (2500.0,)
            taken, _ = ingest.ingest(str(self.folder), LABS, ["scan"], {}, ref, lambda *_: [*limits])
            return {one.student: (one.source, one.submitted) for one in taken}

        self.assertEqual(
            take(""), {"ada": (b"in time", 2000), "bob": (b"late", 3000), "cy": (b"on another branch", 2100)}
        )
        self.assertEqual(take("main")["cy"], (b"in time", 2000))
        self.assertEqual(take("final")["cy"], (b"tagged", 1500), "whatever the deadline is")
        self.assertEqual(take("final", 10.0)["cy"], (b"tagged", 1500))
        self.assertEqual(take("", 9e9)["ada"], (b"late", 3000), "without a deadline the newest")
        one = ingest.ingest(str(self.folder), LABS, ["scan"], {}, "final")[0][0]
        self.assertIn('no branch or tag "final"', one.refused)
        self.git("cy", "switch", "--quiet", "main")
        self.git(".", "clone", "--quiet", str(self.folder / "cy"), str(self.folder / "clone"))
        self.assertEqual(take("other")["clone"], (b"on another branch", 2100), "a branch of its origin")

    def test_what_a_fork_began_with_is_no_submission_in_time(self):
        for text, when in (("int skeleton;", 1000), ("one day late", 3000), ("too late", 5000)):
            self.commit("ada", text, when)
        self.commit("bob", "int skeleton;", 1000)
        self.commit("cy", "int skeleton;", 1000)
        self.commit("cy", "in time", 2000)
        self.commit("cy", "one day late", 3000)
        for name, when in (("dan", 2000), ("dan (1)", 3000), ("eve", 3000), ("eve (1)", 5000)):
            os.utime(self.put(f"{name}.cu", f'#include "scan/lab.hpp"\n// {when}'), (when, when))
        limits, skeletons = [2500.0, 4000.0], {"scan": "int skeleton;"}
        taken, _ = ingest.ingest(str(self.folder), LABS, ["scan"], skeletons, "", lambda *_: limits)
        self.assertEqual(
            {one.student: one.submitted for one in taken},
            {"ada": 3000, "bob": 1000, "cy": 2000, "dan": 2000, "eve": 3000},
        )

    def test_a_repository_without_a_kernel_says_what_it_has(self):
        self.commit("ada", "x", 1000, "rm --quiet labs/scan/scan.cu")
        self.put("ada/work.rar", "Rar!")
        self.git("ada", "add", "--all")
        self.git("ada", "commit", "--quiet", "-m", "gone")
        taken, _ = self.take()
        self.assertIn("work.rar", taken["ada", "scan"].origin)

    def test_a_repository_runs_nothing_and_hides_nothing(self):
        """Its configuration, hooks and attributes are a student's."""
        (self.folder / "ada/labs/scan").mkdir(parents=True)
        self.git("ada", "init", "--quiet", "--initial-branch=main")
        os.symlink("/etc/passwd", self.folder / "ada/labs/scan/reduction.cu")
        self.commit("ada", "code", 1000)
        proof = self.folder.with_name(self.folder.name + ".proof")
        for name in ("core.fsmonitor", "core.pager", "gpg.program", "core.sshCommand", "filter.x.smudge"):
            self.git("ada", "config", name, f"touch {proof}")
        self.git("ada", "config", "log.showSignature", "true")
        self.put("ada/.git/info/attributes", "*.cu filter=x export-ignore\n")
        self.put("ada/.git/hooks/post-checkout", f"#!/bin/sh\ntouch {proof}\n").chmod(0o755)
        taken, _ = self.take(["scan", "reduction"])
        self.assertEqual(taken["ada", "scan"].source, b"code")
        self.assertEqual(taken["ada", "scan"].submitted, 1000)
        self.assertIn("is a link", taken["ada", "reduction"].refused)
        self.assertFalse(proof.exists())
        self.put("bob/scan.cu", "fine")
        for path in sorted(self.folder.glob("ada/.git/objects/*/*")):
            data = path.read_bytes()
            path.unlink()  # each object may be missing, or damaged
            for _ in range(2):
                taken, _ = self.take(["scan", "reduction"])
                self.assertEqual(taken["bob", "scan"].source, b"fine")
                self.assertIn(taken["ada", "scan"].source, (None, b"code"))
                self.put(path.relative_to(self.folder), b"damaged")
            path.write_bytes(data)

    def test_copies_of_different_labs_complete_each_other(self):
        self.put("ada.zip", make_class.zipped([("scan.cu", b"s")]))
        self.put("ada (1).zip", make_class.zipped([("reduction.cu", b"r")]))
        taken, labs = self.take()
        self.assertEqual(
            (labs, taken["ada", "scan"].source, taken["ada", "reduction"].source),
            (["reduction", "scan"], b"s", b"r"),
        )

    def test_a_whole_repository_is_graded_on_its_changes(self):
        skeletons = {lab: f"// what to do\nvoid {lab}() {{ TODO; }}\n" for lab in LABS}
        for lab in LABS:
            self.put(
                f"ada/labs/{lab}/{lab}.cu", skeletons[lab].replace("\n", "\r\n") + "// an older comment\n"
            )
            whole = [(f"repo/labs/{lab}/{lab}.cu", skeletons[lab].encode()) for lab in LABS]
            self.put("bob.zip", make_class.zipped([*whole, ("scan.cu", b"void scan() { mine; }\n")]))
        self.put("ada/labs/reduction/reduction.cu", "void reduction() { mine; }\n")
        submissions, labs = ingest.ingest(str(self.folder), LABS, [], skeletons)
        taken = {(one.student, one.lab): one for one in submissions}
        self.assertEqual(labs, ["reduction", "scan"])
        self.assertEqual(taken["ada", "reduction"].source, b"void reduction() { mine; }\n")
        self.assertEqual(taken["bob", "scan"].source, b"void scan() { mine; }\n")
        self.assertIn(b"TODO", taken["ada", "scan"].source)
        self.assertIn("not changed", taken["ada", "scan"].note)
        self.assertEqual(
            ingest.ingest(str(self.folder), LABS, ["hierarchical_scan"], skeletons)[1], ["hierarchical_scan"]
        )


HAND_INS = {
    "ada": "// points 70\n",
    "bob": "// points 0\n",
    "cy": "// points 70\n// infra 1\n",
    "dan": "// points 5\n// slow\n",
    **{f"student {i}": f"// points {i}\n" for i in range(1, 5)},
    "twin": "// points 70\n",
}


class GradeAll(InFolder):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.environment = in_folder.stand_in(self.folder, FAKE_LOG=str(self.log))
        for student, text in HAND_INS.items():
            self.put(f"in/{student}/reduction.cu", text)
        self.out = self.folder / "in.graded"

    def command(self, *more):
        return [sys.executable, str(HERE / "grade_all.py"), str(self.folder / "in"), "--jobs", "3", *more]

    def grade(self, *more, code=0):
        return self.run_on("in", *more, code=code)

    def sql(self, text):
        return in_folder.sql(self.out, text)

    def points(self):
        return dict(self.sql("SELECT student, points FROM latest WHERE lab = 'reduction'"))

    def expected(self, **changed):
        found = {student: int(text.split()[2]) for student, text in HAND_INS.items()}
        return {**found, **changed}

    def n_graded(self):
        return self.log.read_text().splitlines().count("begin grade") if self.log.exists() else 0

    def test_grades_everybody_once(self):
        said = self.grade()
        self.assertEqual(self.points(), self.expected())
        self.assertEqual(
            self.n_graded(), len(set(HAND_INS.values())) + 1, "the same file once, a fault again"
        )
        for words in (f"{len(HAND_INS)} students", f"{len(HAND_INS)} submissions graded", "gradebook.sqlite"):
            self.assertIn(words, said)
        self.assertNotIn("\r", said, "no bar in a log")
        before = compare_class.grades(self.out / "gradebook.sqlite")
        self.environment["PATH"] += ":/nowhere"  # another shell is no reason to grade again
        self.assertIn("0 files to grade", self.grade())
        self.assertEqual(self.n_graded(), len(set(HAND_INS.values())) + 1)
        self.assertEqual(compare_class.grades(self.out / "gradebook.sqlite"), before)

    def test_grades_again_only_what_changed(self):
        self.grade()
        n_before = self.n_graded()
        self.put("in/ada/reduction.cu", "// points 30\n")
        self.put("in/new/reduction.cu", "// points 9\n// x\n")
        self.grade()
        self.assertEqual(self.n_graded(), n_before + 2)
        self.assertEqual(self.points(), self.expected(ada=30, new=9))
        best = "SELECT student, max(points) FROM submissions GROUP BY student"
        self.assertEqual(dict(self.sql(best)), self.expected(ada=70, new=9))
        self.environment["FAKE_TOOLCHAIN"] = "a newer compiler"
        self.grade()
        self.assertEqual(dict(self.sql(best)), self.expected(ada=70, new=9))
        self.assertGreater(self.n_graded(), n_before + len(HAND_INS) - 2)

    def test_on_a_gpu_one_is_timed_at_a_time(self):
        self.grade("--device", "gpu")
        self.assertEqual(self.points(), self.expected())
        self.assertEqual(self.log.read_text().splitlines().count("end compile"), self.n_graded())
        running = 0
        for line in self.log.read_text().splitlines():
            running += {"begin grade": 1, "end grade": -1}.get(line, 0)
            self.assertLessEqual(running, 1)

    def test_through_slurm_and_without_left_over_jobs(self):
        """Of a stand-in for Slurm, which runs each array at once."""
        programs = {
            "sbatch": """
for word; do case $word in --array=*) last=${word#--array=0-} ;; --wrap=*) command=${word#--wrap=} ;; esac; done
for i in $(seq 0 "$last"); do SLURM_ARRAY_TASK_ID=$i bash -c "$command" >&2; done
echo 7
""",
            "squeue": 'cat "$FAKE_QUEUE"',
            "scancel": 'echo "$@" >> "$FAKE_QUEUE.cancelled"; : > "$FAKE_QUEUE"',
        }
        for name, text in programs.items():
            self.put(f"slurm/{name}", f"#!/bin/bash\n{text}").chmod(0o755)
        own = hashlib.sha256(str(self.out.resolve()).encode()).hexdigest()[:12]
        self.environment["FAKE_QUEUE"] = str(
            self.put("queue", f"lab-{own}-1-c\nlab-{own[::-1]}-2-c\nother\n")
        )
        self.environment["PATH"] = f"{self.folder}/slurm:{self.environment['PATH']}"
        for student in HAND_INS.keys() - {"ada", "cy", "twin"}:
            shutil.rmtree(self.folder / "in" / student)
        self.grade("--slurm")
        self.assertEqual(self.points(), {"ada": 70, "cy": 70, "twin": 70})
        self.assertEqual(self.n_graded(), 3, "the same file once, a fault again")
        self.assertEqual(
            (self.folder / "queue.cancelled").read_text(), f"--quiet --name=lab-{own}-1-c\n", "its own only"
        )
        self.assertEqual(list((self.out / "work").iterdir()), [])

    def test_a_fault_of_the_machine_is_no_zero(self):
        self.put("in/unlucky/reduction.cu", "// points 50\n// infra 4\n")
        self.put("in/crasher/reduction.cu", "// die\n")
        said = self.grade(code=1)
        self.assertEqual(self.points(), self.expected(unlucky=None, crasher=None))
        self.assertIn("no grade  unlucky", said)
        row = in_folder.rows_of(self.out / "final.csv", "id")["unlucky"]
        self.assertEqual((row["reduction"], row["reduction status"]), ("", "no grade"))
        os.remove(self.folder / "in/crasher/reduction.cu")
        os.rmdir(self.folder / "in/crasher")
        self.grade()
        self.assertEqual(self.points()["unlucky"], 50, "at the fifth time, in the next run")

    def test_a_full_disk_gives_one_line_and_resumes(self):
        self.put("in/greedy/reduction.cu", "// points 1\n// fills\n")
        script = """
            mkdir -p "$1" && mount -t tmpfs -o size=40m none "$1" || exit 77
            first=$("${@:2}" --seed 7 2>&1 >"$1.said"); code=$?
            mount -o remount,size=400m "$1"
            "${@:2}" --seed 7 >/dev/null 2>&1; echo "$?"
            echo "$code $(wc -l < "$1.said")"
            grep -v "to grade\\|Timing the CPU\\|running" <<< "$first"
            mkdir "${1%/*}/copy" && cp "$1/gradebook.sqlite" "${1%/*}/copy"
        """
        shell = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "bash", "-c", script, "bash"]
        words = [*shell, str(self.out), *self.command("--jobs", "1")]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=120)
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest("no file system can be mounted here")
        again, first, *said = done.stdout.strip().splitlines()
        self.assertEqual((again, first), ("0", "1 0"), done.stdout + done.stderr)
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], "^lab: The disk .*is full")
        found = in_folder.sql(self.folder / "copy", "SELECT student, points FROM latest")
        self.assertEqual(dict(found), self.expected(greedy=1))

    def test_who_is_not_graded_again_keeps_the_earlier_result(self):
        self.grade("--seed", "7")
        n_before = self.n_graded()
        self.environment["FAKE_TOOLCHAIN"] = "a newer compiler"
        for student in ("ada", "dan"):
            self.put(f"some/{student}/reduction.cu", HAND_INS[student])
        said = self.run_on("some", "--out", str(self.out), code=0)
        self.assertEqual(self.n_graded(), n_before + 2)
        self.assertIn("2 students: 2 submissions graded (2 files now", said)
        self.assertEqual(self.points(), self.expected())
        self.put("in/bob/reduction.cu", "// points 8\n// infra 1\n// new\n")
        self.grade()
        self.assertEqual(self.points(), self.expected(bob=8))
        self.assertGreater(self.n_graded(), n_before + len(set(HAND_INS.values())) - 2)

    def test_points_change_without_grading(self):
        task = {"id": "one", "title": "One", "bonus": False, "efficiency": [], "speedup": []}
        for points in (70, 50):
            lab = {"id": "reduction", "title": "Reduction", "tasks": [task | {"correctness_points": points}]}
            self.environment["FAKE_CATALOGUE"] = str(self.put("catalogue.json", json.dumps({"labs": [lab]})))
            self.grade()
            right = {student: points * (int(text.split()[2]) > 0) for student, text in HAND_INS.items()}
            self.assertEqual(self.points(), right)
            report = json.loads((self.out / "reports/ada/reduction.json").read_text())
            self.assertEqual(report["labs"][0]["points"], points)
        page = (self.out / "reports/ada/reduction.html").read_text()
        self.assertIn("50 points", page, "the page is made anew")
        self.assertEqual((self.out / "reports/ada/reduction.cu").read_text(), HAND_INS["ada"])
        self.assertEqual(self.n_graded(), len(set(HAND_INS.values())) + 1)

    def test_one_that_never_ends_stops_nobody(self):
        self.put("in/endless/reduction.cu", "// hang\n")
        self.grade("--minutes", "0.02", code=1)
        self.assertEqual(self.points(), self.expected(endless=None))

    def test_killed_at_any_moment(self):
        self.grade("--seed", "7", "--out", str(self.folder / "calm"))
        calm = compare_class.grades(self.folder / "calm/gradebook.sqlite")
        random_ = random.Random(4)
        for _ in range(8):
            run = self.start("--seed", "7")
            time.sleep(random_.uniform(0.05, 0.9))
            run.send_signal(signal.SIGKILL)
            run.wait()
        self.grade("--seed", "7")
        self.assertEqual(compare_class.grades(self.out / "gradebook.sqlite"), calm)
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(list((self.out / "work").iterdir()), [])
        self.assertEqual([path for path in self.out.glob("**/*") if path.name.endswith(".tmp")], [])

    def start(self, *more, stream=subprocess.DEVNULL):
        streams: dict = {"stdout": stream, "stderr": subprocess.STDOUT, "text": True}
        # A shell's background jobs ignore Ctrl-C, and hand that down.
        streams["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        run = subprocess.Popen(self.command(*more), env=self.environment, **streams)
        self.addCleanup(run.kill)
        return run

    def test_workers_die_with_it(self):
        self.put("in/endless/reduction.cu", "// hang\n")
        run = self.start()
        self.wait_for(lambda: any("grade-one" in line for line in processes_that_name(str(self.out))))
        run.kill()
        run.wait()
        self.wait_for(lambda: not processes_that_name(str(self.out)))

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_a_damaged_result_is_graded_again(self):
        """One that was not taken in; what is in the book stands."""
        self.grade()
        for damaged in (self.some_bytes_changed, lambda _: b"{"):
            for path in (self.out / "results").glob("*/*.json"):
                path.write_bytes(damaged(path.read_bytes()))
            self.sql("DELETE FROM worth")
            self.sql("UPDATE attempts SET outcome = '', result = NULL")
            self.grade()
            self.assertEqual(self.points(), self.expected())
        for path in (self.out / "results").glob("*/*.json"):
            path.unlink()
        before = self.n_graded()
        self.grade()
        self.assertEqual((self.n_graded(), self.points()), (before, self.expected()))

    def some_bytes_changed(self, data):
        random_, data = random.Random(len(data)), bytearray(data)
        for _ in range(random_.randrange(1, 9)):
            data[random_.randrange(len(data))] ^= random_.randrange(1, 256)
        return data

    def test_one_at_a_time(self):
        self.put("in/endless/reduction.cu", "// hang\n")
        run = self.start()
        self.wait_for((self.out / book.NAME).exists)  # it has the lock before
        self.assertIn("in use", self.grade(code=1))
        run.kill()
        run.wait()

    def test_every_reason_stands_in_the_tables(self):
        self.put("in/rar.rar", b"Rar!\x1a\x07\x00")
        self.put("in/words/notes.txt", "my code")
        self.put("in/grades.csv", "the platform's own")
        self.put("in/ada (1)/reduction.cu", "// points 60\n")
        os.utime(self.folder / "in/ada (1)/reduction.cu", (1, 1))
        said = self.grade()
        self.assertIn("refused   rar, reduction: rar.rar is a RAR archive", said)
        self.assertIn(
            "missing   words: Nothing for this lab was found in words (not a .cu file: words/notes.txt)", said
        )
        self.assertIn("Not a submission, ignored: grades.csv", said)
        table = in_folder.rows_of(self.out / "final.csv", "id")
        self.assertIn("RAR archive", table["rar"]["notes"])
        self.assertIn("notes.txt", table["words"]["notes"])
        self.assertIn(
            "ada/reduction.cu counts: it is newer than ada (1)/reduction.cu.", table["ada"]["notes"]
        )
        self.assertEqual(self.points(), self.expected(rar=0, words=0))

    def test_a_class_without_a_usable_file_gives_the_reasons(self):
        (self.folder / "unusable").mkdir()
        self.put("unusable/rar.rar", b"Rar!\x1a\x07\x00")
        said = self.run_on("unusable")
        self.assertIn("rar: rar.rar is a RAR archive", said)
        self.assertIn("--labs", said)

    def test_after_an_interruption_all_tables_agree(self):
        """Ctrl-C at any moment: while baselines are timed, while submissions are graded, when one has just
        ended."""
        self.grade("--seed", "7")
        for wait in (0.0, 0.15, 0.5, 1.0):
            with self.subTest(wait=wait):
                for student in ("bob", "dan"):
                    self.put(f"in/{student}/reduction.cu", f"// points 44\n// {wait}\n")
                self.put("in/ada/reduction.cu", f"// points 3\n// hang {wait}\n")
                for path in self.out.glob("results/*.json"):
                    path.unlink()
                n_received = "SELECT count(*) FROM received"
                before = self.sql(n_received)
                run = self.start(stream=subprocess.PIPE)
                deadline = time.monotonic() + 60
                while self.sql(n_received) == before:
                    self.assertIsNone(run.poll())
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
                time.sleep(wait)
                run.send_signal(signal.SIGINT)
                said = run.communicate(timeout=60)[0]
                self.assertEqual(run.returncode, 1, said)
                self.assertIn("The same command goes on from here", said)
                self.assertNotIn("Traceback", said)
                self.check_that_tables_agree()
                self.assertIsNone(self.points()["ada"], "an old score is no score of a new file")

    def check_that_tables_agree(self):
        latest = dict(self.sql("SELECT student, sha256 FROM received ORDER BY id"))
        ended = {sha256 for (sha256,) in self.sql("SELECT sha256 FROM attempts WHERE outcome = 'graded'")}
        rows = {
            student: (status, points)
            for student, status, points in self.sql("SELECT student, status, points FROM latest")
        }
        self.assertEqual(
            {student: status == "graded" for student, (status, _) in rows.items()},
            {student: sha256 in ended for student, sha256 in latest.items()},
        )
        table = {
            student: (row["reduction status"], int(row["reduction"]) if row["reduction"] else None)
            for student, row in in_folder.rows_of(self.out / "final.csv", "id").items()
        }
        known = {one: (now if now == "graded" else "no grade", points) for one, (now, points) in rows.items()}
        self.assertEqual(table, known)
        for student, (status, points) in rows.items():
            report = json.loads((self.out / f"reports/{names.slug(student)}/reduction.json").read_text())
            got = ("graded", report["labs"][0]["points"]) if "labs" in report else (report["status"], None)
            self.assertEqual(got, (status, points))

    def test_a_class_that_is_late_by_the_same_amount_stops_before_anything_is_recorded(self):
        self.put("in.graded/class.toml", "[labs.reduction]\ndue = 2026-10-05T22:00:00\n")
        due = 1791237600  # that, in UTC
        times = {student: due + 900_000 + at for at, student in enumerate(HAND_INS)}
        for student, when in times.items():
            os.utime(self.folder / f"in/{student}/reduction.cu", (when, when))
        said = self.grade(code=1)
        self.assertRegex(
            said, r"9 of 9 submissions of reduction are late by about the same amount \(250 hours\)"
        )
        self.assertEqual(self.sql("SELECT * FROM received"), [])
        self.grade("--times", "none")
        self.assertEqual(set(self.sql("SELECT submitted FROM received")), {("",)})
        self.grade("--times", "files")
        self.assertEqual(len(set(self.sql("SELECT submitted FROM received"))), 9)
        for at, (student, when) in enumerate(times.items()):  # a third of them is still late
            when -= 900_000 if at % 3 else 0
            os.utime(self.folder / f"in/{student}/reduction.cu", (when - 10_000, when - 10_000))
        self.assertIn("9 submissions new or changed", self.grade())
        self.assertEqual(
            self.sql("SELECT count(*), min(submitted) FROM received"), [(9, "2026-10-05T19:13:21Z")]
        )

    def test_a_changed_time_is_a_change_and_the_latest_is_by_time(self):
        self.grade()
        path = self.put("in/ada/reduction.cu", "// points 31\n")
        os.utime(path, (2_000_000_000, 2_000_000_000))
        self.assertIn("1 submissions new or changed", self.grade())
        os.utime(path, (1_000_000_000, 1_000_000_000))
        self.assertIn("1 submissions new or changed, 0 files", self.grade())
        self.assertIn("0 submissions new or changed", self.grade())
        of_ada = "SELECT points, submitted FROM submissions WHERE student = 'ada' ORDER BY submitted"
        self.assertEqual(self.sql(of_ada)[0], (31, "2001-09-09T01:46:40Z"))
        self.assertEqual(self.points()["ada"], 70, "the one before was submitted later")

    def test_repositories_are_graded_as_of_the_deadline(self):
        shutil.rmtree(self.folder / "in")
        for when, points in ((1791237000, 30), (1791238000, 40), (1791338000, 50)):
            self.put("in/ada/labs/reduction/reduction.cu", f"// points {points}\n")
            git = ["git", "-C", str(self.folder / "in/ada"), "-c", "user.name=x", "-c", "user.email=x@x"]
            for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "x"]):
                dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"@{when} +0000")
                subprocess.run([*git, *words], check=True, env={**os.environ, **dates})
        toml = "[labs.reduction]\ndue = 2026-10-05T22:00:00\n"
        self.put("in.graded/class.toml", toml)
        self.grade()
        self.assertEqual(self.points(), {"ada": 30})
        self.assertEqual(self.sql("SELECT submitted, late FROM latest"), [("2026-10-05T21:50:00Z", 0)])
        self.put("in.graded/class.toml", toml + "[[extensions]]\nstudent = 'ada'\ndays = 1\n")
        self.grade()
        self.assertEqual(self.points(), {"ada": 40})
        subprocess.run([*git, "tag", "final"], check=True)
        self.grade("--ref", "final")
        self.assertEqual(self.points(), {"ada": 50})

    def test_wrong_usage_says_what_is_right(self):
        self.assertIn("is not a folder", self.run_on("nothing here"))
        (self.folder / "nobody").mkdir()
        self.assertIn("holds no submissions", self.run_on("nobody"))
        self.assertIn("can't go into", self.grade("--out", str(self.folder / "in/grades"), code=1))
        self.assertIn("is not a seed", self.grade("--seed", "12x", code=1))
        self.grade("--seed", "5")
        self.assertIn("was begun with --seed 0x5", self.grade("--seed", "6", code=1))
        self.assertIn("--jobs", self.grade("--jobs", "0", code=1))

    def run_on(self, name, *more, code=1):
        words = [self.folder / name, "--jobs", "3", *more]
        ended, said = in_folder.run(grade_all.main, words, self.environment, self.folder)
        self.assertEqual(ended, code, said)
        return said

    def test_each_file_has_a_seed_of_its_own_and_spreadsheets_no_formula(self):
        self.put("in/=1+1/reduction.cu", "// points 3\n")
        self.put("in/ =2+2/reduction.cu", "// points 3\n")
        self.put("in/<script>/reduction.cu", "// points 3\n")
        self.put("in/<script>2/reduction.cu", "")  # refused: plain text names the file
        self.grade("--seed", "0x5eed")
        seeds = [json.loads(path.read_text())["seed"] for path in self.out.glob("results/*/1.json")]
        self.assertEqual(len(set(seeds) - {"0x5eed"}), len(seeds), "each file has one of its own")
        self.assertIn(
            f"--seed {seeds[0]}", "".join(map(pathlib.Path.read_text, self.out.glob("reports/*/*.json")))
        )
        self.assertIn("'=1+1", (self.out / "final.csv").read_text())
        self.assertIn("' =2+2", (self.out / "final.csv").read_text())
        for path in self.out.glob("**/*"):
            if path.name != "work":
                self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o066, 0, path)


class Submit(InFolder):
    def setUp(self):
        super().setUp()
        self.environment = in_folder.stand_in(self.folder)
        self.put("labs/reduction/reduction.cu", "// TODO\n")
        self.put("labs/scan/scan.cu", "// done, wrong\n")

    def submit(self, *more, code=0):
        ended, said = in_folder.run(submit.main, more, self.environment, self.folder)
        self.assertEqual(ended, code, said)
        return said

    def test_packs_what_is_done_and_ingest_takes_it(self):
        said = self.submit("--out", "in ada.zip")
        self.assertIn("labs/scan/scan.cu", said)
        self.assertRegex(said, r"scan two WRONG_ANSWER\n(.*\n)*Packed into in ada.zip")
        self.assertNotIn("reduction.cu", said)
        with zipfile.ZipFile(self.folder / "in ada.zip") as archive:
            self.assertEqual(archive.namelist(), ["labs/scan/scan.cu"])
        (self.folder / "in").mkdir()
        shutil.move(self.folder / "in ada.zip", self.folder / "in/ada.zip")
        submissions, _labs = ingest.ingest(str(self.folder / "in"), LABS, [])
        self.assertEqual(
            [(one.student, one.lab, one.source) for one in submissions],
            [("ada", "scan", b"// done, wrong\n")],
        )

    def test_packs_what_is_named_whatever_it_is_worth(self):
        said = self.submit("reduction")
        self.assertIn("reduction one NOT_IMPLEMENTED", said)
        self.assertIn("labs/reduction/reduction.cu", said)
        self.assertNotIn("NOT_IMPLEMENTED", self.submit("reduction", "--no-check"))

    def test_refuses_what_no_grader_would_take(self):
        os.remove(self.folder / "labs/scan/scan.cu")
        self.assertIn("is not there", self.submit("scan", code=1))
        os.symlink("/etc/passwd", self.folder / "labs/scan/scan.cu")
        self.assertIn("is a link", self.submit("scan", code=1))
        os.remove(self.folder / "labs/scan/scan.cu")
        os.mkfifo(self.folder / "labs/scan/scan.cu")
        self.assertIn("regular file", self.submit("scan", code=1))
        self.put("labs/reduction/reduction.cu", "x" * (unpack.LARGEST_FILE + 1))
        self.assertIn("larger than", self.submit("reduction", code=1))
        self.assertIn("There is no lab", self.submit("scna", code=1))
        self.assertEqual(list(self.folder.glob("*.zip")), [])

    def test_says_when_it_can_not_write(self):
        self.assertIn("is a folder", self.submit("scan", "--out", "labs", code=1))
        self.assertIn("can't be written", self.submit("scan", "--out", "no/such/folder.zip", code=1))


if __name__ == "__main__":
    unittest.main()
