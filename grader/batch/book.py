# SPDX-License-Identifier: MIT
"""One class's folder: what stands where, and the only place that begins and ends attempts.

class.json       what the class is graded with: seed, device, task; fixed when the folder is made
class.toml       the instructor's: roster, due dates, points (settings.py); may change at any time
catalogue.json   the labs' points, as labcli list --json writes them
digests.json     what each lab was last graded with; part of the key of an attempt
ledger.jsonl     what was handed in and what was done (ledger.py)
sources/         what was handed in, named by its SHA-256
baselines/       the CPU's times, a file a lab and harness
results/KEY/N.json   attempt N's result, as ./lab grade --json writes it; never overwritten
work/KEY-N/      where attempt N compiles; gone when it has ended
gradebook.sqlite, grades.csv, tasks.csv, reports/    made from the above, any time
"""

import fcntl
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass

import scoring
import settings
from ingest import Submission
from ledger import Ledger, State
from settings import Problem

MIN_FREE = 16 << 20  # bytes on the class's disk
NO_CLASS = "{} is not a class's folder. Run ./lab grade-all first; its --out is the folder to name here."
# nvcc's list of its steps begins with the caller's PATH, which must not be part of a key: the compilers'
# versions are.
PATH_OF_SHELL = re.compile(r"^export PATH=.*$", re.M)


@dataclass(frozen=True)
class Unit:
    """One file to compile and grade, whoever handed it in: the same file is graded once."""

    key: str
    lab: str
    sha256: str


def utc_now(at: float | None = None) -> str:
    """Or another time, in seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def write_atomically(path: pathlib.Path, data: bytes, durable: bool = False) -> None:
    """Replaces the file as a whole. `durable`: it is on the disk at the end, even after a power cut."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)  # on a full disk it would be in the way
        raise


def kind_of_fault(message: str) -> str:
    """Without numbers, which differ between attempts."""
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", message)


def digest_files(paths: list[str], base: str) -> str:
    """Of names (below `base`) and contents."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        data = pathlib.Path(path).read_bytes()
        digest.update(f"{os.path.relpath(path, base)} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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


class Book:
    def __init__(self, folder: pathlib.Path, read_only: bool = False) -> None:
        """`read_only`: to look at a class while it is being graded."""
        self.folder = folder.resolve()
        self.labcli = ""
        self.only_new_cases = False  # whether what earlier versions of a lab have found out stands
        self.isolation = "full"
        self.harness: dict = {}
        self.digests: dict[str, str] = {}  # by lab: of everything that compiles and collects evidence
        self.scorer = scoring.Scorer("", {"labs": []}, {})  # what evidence is worth
        self.settings: dict = {}
        self.began: dict[tuple[str, int], float] = {}
        # What grade() has found: a result does not change any more.
        self.known: dict[tuple[str, str], tuple[dict, dict]] = {}
        if not read_only:
            self.claim()
        self.ledger = Ledger(self.folder / "ledger.jsonl", read_only)

    def claim(self) -> None:
        """Takes the folder's lock, because only one process may write to it."""
        for name in ("sources", "results", "work", "baselines", "reports"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        os.chmod(self.folder, 0o711)  # other people's work: only the runners' user gets through, to work/
        for name in ("sources", "results", "baselines", "reports"):
            os.chmod(self.folder / name, 0o700)
        self.lock = open(self.folder / "lock", "w", encoding="ascii")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            in_use = f"{self.folder} is in use by another ./lab grade-all; wait for it, or stop it."
            raise Problem(in_use) from None

    @property
    def state(self) -> State:
        return self.ledger.state

    def note(self, event: str, fields: dict) -> None:
        self.ledger.append({"event": event, **fields, "time": utc_now()})

    # --- What the class is graded with ---

    def settle(self, wished: dict) -> None:
        """Reads or makes the folder's settings; refuses wishes that contradict those of an earlier run."""
        path = self.folder / "class.json"
        if path.exists():
            try:
                self.settings = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                raise Problem(f"{path} is damaged. Mend it, or grade into a new folder (--out).") from None
            for name, value in wished.items():
                if value is not None and value != self.settings.get(name):
                    raise Problem(
                        f"This class was begun with --{name} {self.settings.get(name) or '(none)'}; now it is {value}. "
                        f"One folder holds one kind of grades: take another one with --out."
                    )
        else:
            self.settings = {name: value for name, value in wished.items() if value is not None}
            self.settings.setdefault("seed", hex(int.from_bytes(os.urandom(8), "little")))
            self.settings.setdefault("device", "sim")
            write_atomically(path, json.dumps(self.settings, indent=2).encode() + b"\n", durable=True)

    def use_harness(self, harness: dict) -> None:
        """Keeps what compiles and judges, and its digests, which decide what has to be graded again."""
        self.harness = harness
        programs = digest_files(harness["programs"], harness["build"])
        self.digests = self.read_digests()  # a run may be about some labs only
        for lab, recipe in harness["labs"].items():
            linked = [f"{harness['build']}/{path}" for path in recipe["linked"]]
            # points.hpp is not evidence; what of it decides how evidence is collected is in `asked`.
            sources = [*{*recipe["headers"], *recipe["judging"]}]
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
            self.digests[lab] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        write_atomically(self.folder / "harness.json", json.dumps(harness, indent=1).encode())
        write_atomically(self.folder / "digests.json", json.dumps(self.digests, indent=1).encode())

    def read_digests(self) -> dict[str, str]:
        path = self.folder / "digests.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def use_last_harness(self) -> None:
        """Reads the settings and digests of the last runs of ./lab grade-all, to read results only."""
        try:
            self.settings = json.loads((self.folder / "class.json").read_text(encoding="utf-8"))
            self.digests = self.read_digests()
        except (OSError, ValueError):
            raise Problem(NO_CLASS.format(self.folder)) from None

    def use_points(self, catalogue: dict | None = None, keep: bool = True) -> None:
        """Sets what evidence is worth: the labs' own points, changed by class.toml. Without a catalogue, that
        of the last run. `keep`: also stores it for such later calls."""
        path = self.folder / "catalogue.json"
        if catalogue is not None and keep:
            write_atomically(path, json.dumps(catalogue, indent=1).encode())
        try:
            if catalogue is None:
                catalogue = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"labs": []}
            labs = {lab["id"]: [task["id"] for task in lab.get("tasks", [])] for lab in catalogue["labs"]}
            metrics = catalogue.get("metrics", {})
        except (ValueError, KeyError, TypeError):
            raise Problem(f"{path} is damaged. Delete it, then run ./lab grade-all again.") from None
        wishes = settings.read(self.folder).points
        if labs:
            self.check_wishes(wishes, labs, metrics)
        self.scorer.close()
        self.scorer = scoring.Scorer(self.labcli, catalogue, wishes)

    def check_wishes(self, wishes: dict, labs: dict, metrics: dict) -> None:
        def check(name: str, where: str, kind: str, known: Collection[str]) -> None:
            if name not in known:
                where = f"{self.folder / settings.NAME}: points.{where}{name}"
                raise Problem(f"{where} is not a {kind}. {settings.meant(name, known)}")

        for lab, tasks in wishes.items():
            check(lab, "", "lab", labs)
            for task, wish in tasks.items():
                check(task, f"{lab}.", "task", labs[lab])
                for metric in wish.get("efficiency", {}):
                    check(metric, f"{lab}.{task}.efficiency.", "metric", metrics)

    def unit(self, lab: str, sha256: str) -> Unit:
        how = [self.settings["device"], self.settings["seed"], self.settings.get("task") or ""]
        text = "\n".join([sha256, self.digests[lab], lab, *how])
        return Unit(hashlib.sha256(text.encode()).hexdigest()[:40], lab, sha256)

    def baselines(self, lab: str) -> pathlib.Path:
        return self.folder / "baselines" / f"{lab}-{self.digests[lab][:16]}.json"

    # --- What was handed in ---

    def take_in(self, submissions: list[Submission]) -> int:
        """Notes what is new or has changed; the number of those."""
        known = {(one["student"], one["lab"]): one for one in self.state.submissions}
        n_new = 0
        for one in submissions:
            sha256 = ""
            if one.source is not None:
                sha256 = hashlib.sha256(one.source).hexdigest()
                path = self.source(sha256)
                if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
                    write_atomically(path, one.source)
            record = {name: getattr(one, name) for name in ("student", "lab", "refused", "late", "note")}
            record["sha256"] = sha256
            if not sha256:
                record["origin"] = one.origin  # the reason
            before = known.get((one.student, one.lab))
            if before is None or any(before[name] != value for name, value in record.items()):
                submitted = utc_now(one.submitted) if one.submitted else ""
                self.note("hand_in", {"origin": one.origin, **record, "submitted": submitted})
                n_new += 1
        return n_new

    def keep_earlier(self, labs: list[str], keep: bool) -> None:
        """Notes whether results of an earlier harness stand for students who are not graded again
        (--only)."""
        for lab in labs:
            digest_kept = self.digests[lab] if keep else ""
            if self.state.kept.get(lab, "") != digest_kept:
                self.note("keep", {"lab": lab, "digest": digest_kept})

    def keeps_earlier(self, lab: str) -> bool:
        return lab not in self.digests or self.state.kept.get(lab) == self.digests[lab]

    def source(self, sha256: str) -> pathlib.Path:
        return self.folder / "sources" / f"{sha256}.cu"

    # --- Attempts ---

    def result_path(self, unit: Unit, attempt: int) -> pathlib.Path:
        return self.folder / "results" / unit.key / f"{attempt}.json"

    def work(self, unit: Unit, attempt: int) -> pathlib.Path:
        return self.folder / "work" / f"{unit.key}-{attempt}"

    def begin(self, unit: Unit) -> int:
        """The number of a new attempt. It is in the ledger before anything is done."""
        self.check_disk()
        folder = self.folder / "results" / unit.key
        folder.mkdir(exist_ok=True)
        there = [int(path.stem) for path in folder.glob("*.json") if path.stem.isdigit()]
        attempt = 1 + max([self.state.started.get(unit.key, 0), *there])
        self.note("start", {**asdict(unit), "attempt": attempt})
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

    def grade(self, key: str, lab: str) -> tuple[dict, dict] | None:
        """The attempt that counts and its result, without its cases: the first whose result is still
        whole."""
        if (key, lab) in self.known:
            return self.known[key, lab]
        for record in self.state.graded(key):
            path = self.folder / "results" / key / f"{record['attempt']}.json"
            result = read_result(path, lab)
            if result is not None and digest(path) == record.get("result"):
                for task in result["labs"][0]["tasks"]:
                    task.pop("cases", None)  # most of it
                self.known[key, lab] = record, result
                return record, result
        return None

    def earlier_result(self, unit: Unit) -> pathlib.Path | None:
        """What another version of the lab has found out about the file, the last one's."""
        for key in self.state.keys_of(unit.lab, unit.sha256):
            if key != unit.key and (found := self.grade(key, unit.lab)):
                return self.folder / "results" / key / f"{found[0]['attempt']}.json"
        return None

    def end(self, unit: Unit, attempt: int, problem: str = "") -> str:
        """Notes how an attempt ended: "graded", or "infra" when the machine was at fault; then it has to be
        repeated."""
        result = self.result(unit, attempt)
        if result is None:
            self.check_disk()
        record = {**asdict(unit), "attempt": attempt}
        if (begun := self.began.pop((unit.key, attempt), None)) is not None:
            record["seconds"] = round(time.monotonic() - begun, 3)
        if result is None:
            record.update(outcome="infra", message=problem or "It ended without a result.")
        else:
            faults = [task["message"] for task in result["labs"][0]["tasks"] if task["verdict"] == "INFRA"]
            record.update(outcome="infra" if faults else "graded", message=faults[0] if faults else "")
            record["result"] = digest(self.result_path(unit, attempt))
        self.note("end", record)
        shutil.rmtree(self.work(unit, attempt), ignore_errors=True)
        return record["outcome"]

    def needs_a_person(self, unit: Unit) -> bool:
        """Whether the last two attempts failed in the same way: a third would, too, and the file may have a
        part in it."""
        last = [record for _, record in sorted(self.state.ended.get(unit.key, {}).items())][-2:]
        kinds = {kind_of_fault(one.get("message", "")) for one in last if one.get("outcome") == "infra"}
        return len(last) == 2 and len(kinds) == 1 and all(one.get("outcome") == "infra" for one in last)

    def check_disk(self) -> None:
        """Begins no further attempt on a full disk: it could fail without a fault of the file."""
        if shutil.disk_usage(self.folder).free < MIN_FREE:
            raise Problem(
                f"The disk with {self.folder} is full: less than {MIN_FREE >> 20} MiB are free. Make room, then run the same "
                f"command again; it goes on from here."
            )

    def adopt(self, unit: Unit) -> bool:
        """Whether an attempt that an earlier run began, and did not see the end of, has left its result."""
        for attempt in range(1, self.state.started.get(unit.key, 0) + 1):
            if attempt not in self.state.ended.get(unit.key, {}) and self.result(unit, attempt) is not None:
                if self.end(unit, attempt) == "graded":
                    return True
        return False

    def adopt_all(self, units: list[Unit]) -> None:
        """Adopts the results of attempts that ended as the run was interrupted, before it noted them."""
        for unit in units:
            if self.grade(unit.key, unit.lab) is None:
                self.adopt(unit)

    def clean(self) -> None:
        """Removes files and folders that a killed run left unfinished."""
        for path in (*self.folder.glob("**/.*.tmp"), *self.folder.glob("results/*/*.tmp")):
            path.unlink(missing_ok=True)
        for path in (self.folder / "work").iterdir():
            shutil.rmtree(path, ignore_errors=True)
