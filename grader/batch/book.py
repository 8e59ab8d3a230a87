# SPDX-License-Identifier: MIT
"""A class's folder and its book. Grades, tables, feedback and statistics are all computed from the book.

class.toml        the instructor's decisions (settings.py), and the tables that it names
sources/          what was handed in, named by its SHA-256
results/KEY/N.*   what a worker found out in attempt N; results/LAB-….json: the CPU's times. Never overwritten
gradebook.sqlite  the book (SCHEMA): one process at a time takes in submissions and results
the rest          outputs that no command reads (final.csv, reports/ …), and scratch of a run (work/, lock)

handouts/instructor/guide.md describes the book's tables to those who query them.
"""

import fcntl
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import sqlite3
import time
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import scoring
from ingest import Submission
from names import slug
from settings import Problem

NAME = "gradebook.sqlite"
VERSION = 4
PATIENCE = 300  # seconds that a process waits for another one's change of the book
RETRIES = 2  # of an attempt, within one run, after faults of the machine
MIN_FREE = 16 << 20  # bytes on the class's disk
NO_CLASS = "{} is not a class's folder. Run ./lab grade-all first; its --out is the folder to name here."
OLD_CLASS = (
    "{} was written by another version of the course, which keeps it in another form. Commit {} reads it; this "
    "version grades the submissions anew into another folder (--out)."
)
IN_USE = "{} is in use by another ./lab grade-all; wait for it, or stop it."
OTHER_WISH = (
    "This class was begun with --{} {}; now it is {}. One folder holds one kind of grades: take another one "
    "with --out."
)
DISK_FULL = (
    f"The disk with {{}} is full: less than {MIN_FREE >> 20} MiB are free. Make room, then run the same "
    "command again; it goes on from here."
)
# nvcc's list of its steps begins with the caller's PATH, which must not be part of a key: the compilers'
# versions are.
PATH_OF_SHELL = re.compile(r"^export PATH=.*$", re.M)

SCHEMA = f"""
BEGIN IMMEDIATE;
PRAGMA user_version = {VERSION};
-- seed, device and task with which the class is graded; `points`: what results are worth (scoring.py).
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
-- `digest`: of all that compiles and judges a lab.
CREATE TABLE labs (lab TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE students (student TEXT PRIMARY KEY, slug TEXT NOT NULL UNIQUE);
-- One row each time that something new was handed in; `id` counts up.
CREATE TABLE received (
  id INTEGER PRIMARY KEY, student TEXT NOT NULL REFERENCES students, lab TEXT NOT NULL, sha256 TEXT NOT NULL,
  refused TEXT NOT NULL, origin TEXT NOT NULL, note TEXT NOT NULL, late INTEGER NOT NULL, submitted TEXT NOT NULL,
  received TEXT NOT NULL);
CREATE INDEX of_student ON received (student, lab);
-- `outcome`: '' until it ends, then graded, or infra when the machine was at fault.
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, attempt INTEGER NOT NULL, lab TEXT NOT NULL, sha256 TEXT NOT NULL,
  digest TEXT NOT NULL, outcome TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '', seconds REAL,
  device TEXT, isolation TEXT, message TEXT NOT NULL DEFAULT '',
  result BLOB, student_result BLOB, UNIQUE (key, attempt));
CREATE INDEX of_file ON attempts (lab, sha256);
-- What results are worth by the points of `about`; computed when grades are.
CREATE TABLE worth (
  attempt INTEGER PRIMARY KEY REFERENCES attempts, points INTEGER NOT NULL, max_points INTEGER NOT NULL,
  bonus_points INTEGER NOT NULL, tasks TEXT NOT NULL);
-- The final grades, as ./lab class or ./lab grade-all computed them the last time.
CREATE TABLE finals (
  student TEXT NOT NULL, lab TEXT NOT NULL, status TEXT NOT NULL, points REAL, bonus REAL, submission INTEGER,
  details TEXT NOT NULL, PRIMARY KEY (student, lab));
-- What counts is the result of the lab as it is now; of a file that has none yet, its last one of any version.
CREATE VIEW submissions AS SELECT
  r.id, r.student, r.lab, r.sha256, r.origin, r.late, r.submitted, r.received,
  CASE WHEN r.refused <> '' THEN 'refused' WHEN r.sha256 = '' THEN 'missing' WHEN w.attempt THEN 'graded'
    WHEN f.id THEN 'infra' ELSE 'pending' END AS status,
  iif(r.sha256 = '', 0, w.points) AS points, w.max_points, iif(r.sha256 = '', 0, w.bonus_points) AS bonus_points,
  CASE WHEN r.refused <> '' THEN r.refused WHEN w.attempt OR r.sha256 = '' AND r.note <> '' THEN r.note
    WHEN r.sha256 = '' THEN r.origin ELSE coalesce(f.message, '') END AS message,
  a.key, a.attempt
  FROM received r LEFT JOIN labs l ON l.lab = r.lab
  LEFT JOIN attempts a ON a.id = coalesce(
    (SELECT max(id) FROM attempts
      WHERE lab = r.lab AND sha256 = r.sha256 AND outcome = 'graded' AND digest = l.digest),
    (SELECT max(id) FROM attempts WHERE lab = r.lab AND sha256 = r.sha256 AND outcome = 'graded'))
  LEFT JOIN worth w ON w.attempt = a.id
  LEFT JOIN attempts f ON f.id = (
    SELECT max(id) FROM attempts WHERE lab = r.lab AND sha256 = r.sha256 AND digest = l.digest AND outcome <> '');
CREATE VIEW latest AS SELECT * FROM submissions s WHERE id = (
  SELECT id FROM received WHERE student = s.student AND lab = s.lab
    ORDER BY coalesce(nullif(submitted, ''), received) DESC, id DESC LIMIT 1);
CREATE VIEW tasks AS SELECT
  s.id AS submission, t.key AS number, json_extract(t.value, '$.id') AS task,
  json_extract(t.value, '$.verdict') AS verdict, json_extract(t.value, '$.points') AS points,
  json_extract(t.value, '$.max_points') AS max_points, json_extract(t.value, '$.bonus') AS bonus,
  json_extract(t.value, '$.speedup') AS speedup, json_extract(t.value, '$.message') AS message
  FROM submissions s JOIN attempts a ON a.key = s.key AND a.attempt = s.attempt
  JOIN worth w ON w.attempt = a.id, json_each(w.tasks) t;
COMMIT;
"""


@dataclass(frozen=True)
class Unit:
    """One file to compile and grade, whoever handed it in: the same file is graded once."""

    key: str
    lab: str
    sha256: str


def utc_now(at: float | None = None) -> str:
    """Or another time, in seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def write_atomically(path: pathlib.Path, data: bytes) -> None:
    """Replaces the file as a whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)  # on a full disk it would be in the way
        raise


def digest_files(paths: list[str], base: str) -> str:
    """Of names (below `base`) and contents."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        data = pathlib.Path(path).read_bytes()
        digest.update(f"{os.path.relpath(path, base)} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def read_result(path: pathlib.Path, lab: str) -> dict | None:
    """What a worker wrote, if it is whole; a damaged file is no result."""

    def has(part: dict, kind: type, *names: str) -> bool:
        return all(isinstance(part[name], kind) for name in names)

    try:
        result = json.loads(path.read_bytes())
        (graded,) = result["labs"]
        tasks = graded["tasks"]
        whole = graded["id"] == lab and has(graded, int, "points", "max_points", "bonus_points")
        for task in tasks:
            whole &= has(task, str, "id", "verdict", "message") and has(task, int, "points", "max_points")
            whole &= isinstance(task.get("speedup") or 0, (int, float))
        return result if whole and len({task["id"] for task in tasks}) == len(tasks) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def packed(result: dict) -> bytes:
    return zlib.compress(json.dumps(result).encode(), 1)


def unpacked(data: bytes) -> dict:
    return json.loads(zlib.decompress(data))


class Book:
    def __init__(self, folder: pathlib.Path, begins: bool = False) -> None:
        """`begins`: a batch, of which there may be one at a time; it makes the folder if there is none."""
        self.folder = folder.resolve()
        self.labcli = ""
        self.isolation = "full"
        self.scorer = scoring.Scorer("", {"labs": []})  # what evidence is worth
        self.began: dict[tuple[str, int], float] = {}
        if (self.folder / "ledger.jsonl").exists():
            raise Problem(OLD_CLASS.format(self.folder, "7298b76f"))
        if begins:
            self.claim()
        elif not (self.folder / NAME).exists():
            raise Problem(NO_CLASS.format(self.folder))
        self.db = sqlite3.connect(self.folder / NAME, PATIENCE, isolation_level="IMMEDIATE")
        self.db.row_factory = sqlite3.Row
        if begins and self.value("PRAGMA user_version") == 0:
            self.db.executescript(SCHEMA)
        if self.value("PRAGMA user_version") != VERSION:
            raise Problem(OLD_CLASS.format(self.folder, "f973545c"))
        self.settings = {name: self.about(name) for name in ("seed", "device", "task")}
        self.digests = dict(map(tuple, self.rows("SELECT lab, digest FROM labs")))

    def claim(self) -> None:
        """Takes the folder's lock."""
        for name in ("sources", "results", "work", "reports"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            # Other people's work: only the runners' user gets through, to work/.
            os.chmod(self.folder / name, 0o711 if name == "work" else 0o700)
        os.chmod(self.folder, 0o711)
        self.lock = open(self.folder / "lock", "w", encoding="ascii")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem(IN_USE.format(self.folder)) from None

    def rows(self, sql: str, *values: object) -> list[sqlite3.Row]:
        return self.db.execute(sql, values).fetchall()

    def value(self, sql: str, *values: object) -> Any:
        """Of the first column and row; None where there is no row."""
        row = self.db.execute(sql, values).fetchone()
        return row[0] if row else None

    def insert(self, table: str, **row: object) -> None:
        """Or takes the place of the row with the same key."""
        marks = ", ".join("?" * len(row))
        self.db.execute(f"REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()])

    def about(self, name: str) -> str | None:
        return self.value("SELECT value FROM about WHERE name = ?", name)

    # --- What the class is graded with ---

    def settle(self, wished: dict) -> None:
        """Refuses wishes that contradict those of an earlier run."""
        for name, value in wished.items():
            if self.settings["seed"] and value not in (None, self.settings[name]):
                raise Problem(OTHER_WISH.format(name, self.settings[name] or "(none)", value))
        if not self.settings["seed"]:
            self.settings = {
                "seed": hex(int.from_bytes(os.urandom(8), "little")),
                "device": "sim",
                "task": None,
            }
            self.settings |= {name: value for name, value in wished.items() if value is not None}
            with self.db:
                for name, value in self.settings.items():
                    if value is not None:
                        self.insert("about", name=name, value=value)

    def use_harness(self, harness: dict) -> None:
        """Notes the digests of what compiles and judges, which decide what has to be graded again."""
        programs = digest_files(harness["programs"], harness["build"])
        for lab, recipe in harness["labs"].items():
            linked = [f"{harness['build']}/{path}" for path in recipe["linked"]]
            # points.hpp is not evidence; what of it decides how evidence is collected is in `asked`.
            sources = [*{*recipe["headers"], *harness["judging"][lab]}]
            sources = [path for path in sources if os.path.basename(path) != "points.hpp"]
            parts = [
                programs,
                digest_files(linked, harness["build"]),
                digest_files(sources, harness["root"]),
                json.dumps(recipe["asked"], sort_keys=True),
                harness["toolchain"],
                PATH_OF_SHELL.sub("", recipe["compile"]),
                recipe["link"],
            ]
            digest = self.digests[lab] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
            with self.db:
                update = "ON CONFLICT DO UPDATE SET digest = excluded.digest"
                self.db.execute(f"INSERT INTO labs (lab, digest) VALUES (?, ?) {update}", (lab, digest))

    def use_points(self, catalogue: dict | None = None) -> None:
        """Computes what results are worth by the labs' points; without a catalogue by that of the last run. The
        caller commits."""
        before = self.about("points") or '{"catalogue": {"labs": []}}'
        self.scorer.close()
        self.scorer = scoring.Scorer(self.labcli, catalogue or json.loads(before)["catalogue"])
        if (table := json.dumps(self.scorer.table)) != before:
            self.insert("about", name="points", value=table)
            self.db.execute("DELETE FROM worth")
        self.score()

    def score(self) -> None:
        """Notes what results are worth of which that is not known."""
        unknown = "outcome = 'graded' AND NOT EXISTS (SELECT 1 FROM worth WHERE attempt = id)"
        for number, result in self.rows(f"SELECT id, result FROM attempts WHERE {unknown}"):
            (lab,) = unpacked(result)["labs"]
            for task in lab["tasks"]:
                task.pop("cases", None)  # most of it
            lab = self.scorer.rescored(lab)
            points = {name: lab[name] for name in ("points", "max_points", "bonus_points")}
            self.insert("worth", attempt=number, **points, tasks=json.dumps(lab["tasks"]))

    def partial(self, lab: str) -> str:
        """What all tables say of a lab in a class that is graded with --task; "" of others."""
        n_tasks = len(self.scorer.tasks.get(lab, {}))
        return f" (partial: 1 of {n_tasks} tasks)" if self.settings["task"] else ""

    def unit(self, lab: str, sha256: str) -> Unit:
        how = [self.settings["device"], self.settings["seed"], self.settings["task"] or ""]
        text = "\n".join([sha256, self.digests[lab], lab, *how])
        return Unit(hashlib.sha256(text.encode()).hexdigest()[:40], lab, sha256)

    def baselines(self, lab: str) -> pathlib.Path:
        return self.folder / "results" / f"{lab}-{self.digests[lab][:16]}.json"

    # --- What was handed in ---

    def take_in(self, submissions: list[Submission]) -> int:
        """Notes what is new or has changed; the number of those. Another time of the same file takes the place of
        the one before, which was wrong."""
        n_new = 0
        with self.db:
            for one in submissions:
                row: dict = {
                    name: getattr(one, name) for name in ("student", "lab", "refused", "late", "note")
                }
                row["sha256"] = "" if one.source is None else hashlib.sha256(one.source).hexdigest()
                row["origin"] = one.origin
                submitted = utc_now(one.submitted) if one.submitted else ""
                path = self.source(row["sha256"])
                if one.source is not None and not (path.exists() and path.read_bytes() == one.source):
                    write_atomically(path, one.source)
                before = self.last_taken_in(one.student, one.lab)
                # Where there is no file, the origin is the reason.
                compared = {*row} - ({"late", "origin"} if one.source is not None else {"late"})
                if before is None or any(before[name] != row[name] for name in compared):
                    self.insert("students", student=one.student, slug=slug(one.student))
                    self.insert("received", **row, submitted=submitted, received=utc_now())
                    n_new += 1
                elif before["submitted"] != submitted or before["late"] != row["late"]:
                    change = "UPDATE received SET submitted = ?, late = ? WHERE id = ?"
                    self.db.execute(change, (submitted, row["late"], before["id"]))
                    n_new += 1
        return n_new

    def last_taken_in(self, student: str, lab: str) -> sqlite3.Row | None:
        found = self.rows(
            "SELECT * FROM received WHERE student = ? AND lab = ? ORDER BY id DESC LIMIT 1", student, lab
        )
        return found[0] if found else None

    def source(self, sha256: str) -> pathlib.Path:
        return self.folder / "sources" / f"{sha256}.cu"

    # --- Attempts ---

    def result_path(self, unit: Unit, attempt: int) -> pathlib.Path:
        return self.folder / "results" / unit.key / f"{attempt}.json"

    def work(self, unit: Unit, attempt: int) -> pathlib.Path:
        return self.folder / "work" / f"{unit.key}-{attempt}"

    def begin(self, unit: Unit) -> int:
        """The number of a new attempt. It is in the book before anything is done."""
        self.check_disk()
        (self.folder / "results" / unit.key).mkdir(exist_ok=True)
        attempt = 1 + (self.value("SELECT max(attempt) FROM attempts WHERE key = ?", unit.key) or 0)
        with self.db:
            self.insert("attempts", **asdict(unit), attempt=attempt, digest=self.digests[unit.lab])
        self.began[unit.key, attempt] = time.monotonic()
        return attempt

    def result(self, unit: Unit, attempt: int) -> dict | None:
        """A whole and fitting result, or nothing."""
        result = read_result(self.result_path(unit, attempt), unit.lab)
        return result if result and result.get("seed") == self.seed_of(unit) else None

    def seed_of(self, unit: Unit) -> str:
        """The secret seed with which a file is graded. If it leaks, it shows nothing about the class's seed, nor
        about the seed of any other file, such as the student's next one."""
        secret = int(self.settings["seed"], 0).to_bytes(8, "little")
        digest = hmac.digest(secret, f"{unit.lab} {unit.sha256}".encode(), "sha256")
        return hex(int.from_bytes(digest[:8], "little"))

    def is_graded(self, unit: Unit) -> bool:
        return bool(self.rows("SELECT 1 FROM attempts WHERE key = ? AND outcome = 'graded'", unit.key))

    def end(self, unit: Unit, attempt: int, problem: str = "") -> str:
        """Takes the result in: "graded", or "infra" when the machine was at fault; then it has to be
        repeated."""
        path = self.result_path(unit, attempt)
        result = self.result(unit, attempt)
        for_student = read_result(path.with_suffix(".student.json"), unit.lab)
        row: dict = {
            "outcome": "infra",
            "message": problem or "It ended without a result.",
            "ended": utc_now(),
        }
        if (begun := self.began.pop((unit.key, attempt), None)) is not None:
            row["seconds"] = round(time.monotonic() - begun, 3)
        if result is None or for_student is None:
            self.check_disk()
        else:
            faults = [task["message"] for task in result["labs"][0]["tasks"] if task["verdict"] == "INFRA"]
            row.update(outcome="infra" if faults else "graded", message=faults[0] if faults else "")
            row.update(device=result.get("device"), isolation=result.get("isolation"))
            row.update(result=packed(result), student_result=packed(for_student))
        with self.db:
            changes = ", ".join(f"{name} = :{name}" for name in row)
            where = {"key": unit.key, "attempt": attempt}
            self.db.execute(
                f"UPDATE attempts SET {changes} WHERE key = :key AND attempt = :attempt", row | where
            )
        shutil.rmtree(self.work(unit, attempt), ignore_errors=True)
        return row["outcome"]

    def check_disk(self) -> None:
        """Begins no further attempt on a full disk: it could fail without a fault of the file."""
        if shutil.disk_usage(self.folder).free < MIN_FREE:
            raise Problem(DISK_FULL.format(self.folder))

    def adopt(self, unit: Unit) -> bool:
        """Whether an attempt that an earlier run began, and did not see the end of, has left its result."""
        begun = self.rows("SELECT attempt FROM attempts WHERE key = ? AND outcome = '' ORDER BY 1", unit.key)
        whole = (attempt for (attempt,) in begun if self.result(unit, attempt) is not None)
        return any(self.end(unit, attempt) == "graded" for attempt in whole)

    def clean(self) -> None:
        """Removes files and folders that a killed run left unfinished."""
        for path in (*self.folder.glob("**/.*.tmp"), *self.folder.glob("results/*/*.tmp")):
            path.unlink(missing_ok=True)
        for path in (self.folder / "work").iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
