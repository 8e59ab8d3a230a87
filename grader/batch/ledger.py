# SPDX-License-Identifier: MIT
"""The append-only ledger of a class: what was handed in, which attempts were begun, how they ended. It alone
knows what is done.

A line is the checksum of its text, a space, the text (a JSON object). One process writes; each line is one
write, made durable before anything that counts on it. A kill or a full disk may tear the last line: a line
that does not match its checksum was never written. Nothing is changed or taken away, ever.
"""

import contextlib
import json
import os
import pathlib
import signal
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM take effect afterwards: what is done within is done whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def encode(record: dict) -> bytes:
    text = json.dumps(record, ensure_ascii=True, sort_keys=True).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def parse(data: bytes) -> tuple[list[dict], int]:
    """The records, and how many lines were damaged."""
    records, n_bad = [], 0
    for line in data.split(b"\n"):
        if not line:
            continue
        record = None
        if len(line) > 9 and line[8:9] == b" " and line[:8] == b"%08x" % zlib.crc32(line[9:]):
            try:
                record = json.loads(line[9:])
            except (ValueError, RecursionError):
                record = None
        if isinstance(record, dict) and isinstance(record.get("event"), str):
            records.append(record)
        else:
            n_bad += 1
    # A whole record whose newline is missing was not acknowledged, but it is true: the checksum says so.
    return records, n_bad


@dataclass
class State:
    """What the ledger says, summed up."""

    # In order; the last of a student and lab is the one that counts.
    submissions: list[dict] = field(default_factory=list)
    started: dict[str, int] = field(default_factory=dict)  # key: the highest attempt begun
    ended: dict[str, dict[int, dict]] = field(default_factory=dict)  # key: attempt: record
    # Lab and file: keys, in the order in which they first ended.
    keys: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    # Student and lab: the last of `submissions`.
    latest: dict[tuple[str, str], dict] = field(default_factory=dict)
    # Lab: the harness under which earlier results still stand.
    kept: dict[str, str] = field(default_factory=dict)

    def add(self, record: dict) -> None:
        try:
            if record["event"] == "hand_in":  # a submission: ledgers of earlier terms call it so
                names = ("student", "lab", "sha256", "refused", "origin", "late", "time")
                submission = {name: record[name] for name in names}
                # Earlier versions did not write these.
                self.submissions.append(
                    submission | {name: record.get(name, "") for name in ("note", "submitted")}
                )
                self.latest[record["student"], record["lab"]] = self.submissions[-1]
            elif record["event"] == "start":
                self.started[record["key"]] = max(self.started.get(record["key"], 0), int(record["attempt"]))
            elif record["event"] == "end":
                self.ended.setdefault(record["key"], {})[int(record["attempt"])] = record
                self.keys.setdefault((record["lab"], record["sha256"]), {})[record["key"]] = None
            elif record["event"] == "keep":
                self.kept[str(record["lab"])] = str(record["digest"])
        except (KeyError, TypeError, ValueError):
            pass  # of another version

    def graded(self, key: str) -> list[dict]:
        """Attempts that were not the machine's fault, the one that counts first."""
        ended = (record for _, record in sorted(self.ended.get(key, {}).items()))
        return [record for record in ended if record.get("outcome") == "graded"]

    def keys_of(self, lab: str, sha256: str) -> list[str]:
        """Under which a file has been graded, with whatever harness, the last first."""
        return list(self.keys.get((lab, sha256), {}))[::-1]

    def latest_submission(self, student: str, lab: str) -> dict | None:
        return self.latest.get((student, lab))


class Ledger:
    def __init__(self, path: pathlib.Path, read_only: bool = False) -> None:
        data = path.read_bytes() if path.exists() else b""
        records, self.n_damaged = parse(data)
        self.state = State()
        for record in records:
            self.state.add(record)
        self.fd = -1
        if read_only:
            return
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if data and not data.endswith(b"\n"):
            self._write(b"\n")  # so that the torn line stays alone

    def _write(self, data: bytes) -> None:
        written = os.write(self.fd, data)
        if written != len(data):
            os.write(self.fd, b"\n")
            raise OSError("the ledger could not be written: is the disk full?")
        os.fdatasync(self.fd)

    def append(self, record: dict) -> None:
        with uninterrupted():
            self._write(encode(record))
            self.state.add(record)

    def close(self) -> None:
        os.close(self.fd)
