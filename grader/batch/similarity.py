# SPDX-License-Identifier: MIT
"""Which submissions resemble each other? Fingerprints of their tokens, for people and plagiarism tools; no
verdict.

Winnowing: S. Schleimer, D. Wilkerson, A. Aiken, "Winnowing: local algorithms for document fingerprinting",
2003, sections 3 and 5 (DOI 10.1145/872757.872770). Names, numbers and comments do not count, so that renaming
hides nothing; the skeleton that everybody starts from is left out; the reference solution takes part under
its own name. Any copied run of K + WINDOW - 1 tokens has a fingerprint in common; pairs that share fewer than
MIN_SHARED fingerprints are not reported.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
from collections import Counter, defaultdict

from settings import Problem
from source_text import TOKEN

K, WINDOW = 14, 10  # tokens in a gram; grams of which one is kept
MIN_SHARED = 6  # fingerprints: fewer say nothing
NEAR = 8  # lines between two fingerprints of one stretch
REFERENCE = "(reference solution)"
KEYWORDS = set(
    """if else for while do switch case default break continue return goto struct class template typename auto const constexpr
    static inline void bool char int unsigned signed long short float double sizeof new delete this true false nullptr namespace using
    __global__ __device__ __host__ __shared__ __syncthreads __syncwarp threadIdx blockIdx blockDim gridDim""".split()
)


def tokens(text: str) -> list[tuple[str, int]]:
    """Tokens as far as they count, with their lines."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "word":
            found.append((word if word in KEYWORDS else "name", line))
        elif kind != "skip":
            found.append((word if kind == "sign" else kind, line))
        line += word.count("\n")
    return found


def grams(text: str) -> list[tuple[int, int]]:
    """The hash of every K tokens in a row, and the line that they begin on."""
    words = tokens(text)
    out = []
    for at in range(len(words) - K + 1):
        joined = "\0".join(word for word, _ in words[at : at + K]).encode("utf-8", "replace")
        digest = hashlib.blake2b(joined, digest_size=8).digest()
        out.append((int.from_bytes(digest, "big"), words[at][1]))
    return out


def winnow(hashes: list[tuple[int, int]]) -> dict[int, int]:
    """Of every WINDOW grams in a row the least one, the rightmost of equals: fingerprint to line."""
    chosen: dict[int, int] = {}
    before = -1
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = range(start, min(start + WINDOW, len(hashes)))
        least = min(window, key=lambda at: (hashes[at][0], -at))
        if least != before:
            chosen.setdefault(*hashes[least])
            before = least
    return chosen


def fingerprints(text: str, skeleton: set[int]) -> dict[int, int]:
    return {print_: line for print_, line in winnow(grams(text)).items() if print_ not in skeleton}


def regions(lines: list[tuple[int, int]]) -> list[list[int]]:
    """Stretches that run side by side: [first and last line in a, first and last line in b]."""
    found: list[list[int]] = []
    for a, b in sorted(lines):
        last = found[-1] if found else None
        if last and a - last[1] <= NEAR and 0 <= b - last[3] <= NEAR:
            last[1], last[3] = a, b
        else:
            found.append([a, a, b, b])
    return found


def pairs_of(prints: dict[str, dict[int, int]], threshold: float) -> list[dict]:
    owners = defaultdict(list)
    for who, found in sorted(prints.items()):
        for one in found:
            owners[one].append(who)
    shared: Counter = Counter()
    for names in owners.values():
        shared.update((a, b) for i, a in enumerate(names) for b in names[i + 1 :])
    pairs = []
    for (a, b), count in shared.items():
        part = count / min(len(prints[a]), len(prints[b]))
        if count >= MIN_SHARED and part >= threshold:
            lines = [(prints[a][one], prints[b][one]) for one in prints[a].keys() & prints[b].keys()]
            pairs.append(
                {
                    "a": a,
                    "b": b,
                    "shared": count,
                    "similarity": round(part, 4),
                    "jaccard": round(count / (len(prints[a]) + len(prints[b]) - count), 4),
                    "regions": regions(lines),
                }
            )
    return sorted(pairs, key=lambda pair: (-pair["similarity"], -pair["shared"], pair["a"], pair["b"]))


def skeleton_and_solution(root: pathlib.Path, lab: str) -> tuple[str, str | None]:
    """What students start from, and the reference. A student edition has the first alone."""
    solution, tool = root / "solutions" / lab / f"{lab}.cu", root / "common/tools/authoring/make_skeleton.py"
    if not solution.exists():
        return (root / "labs" / lab / f"{lab}.cu").read_text(encoding="utf-8"), None
    command = [sys.executable, str(tool), str(solution), "/dev/stdout"]
    made = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return made.stdout.decode(), solution.read_text(encoding="utf-8")


def name_of_reference(students: dict) -> str:
    """One that no student has, whatever they call themselves."""
    name = REFERENCE
    while name in students:
        name += "*"
    return name


def compare(root: pathlib.Path, lab: str, texts: dict[str, str], threshold: float) -> dict:
    skeleton, solution = skeleton_and_solution(root, lab)
    common = {one for one, _ in grams(skeleton)}
    prints = {who: fingerprints(text, common) for who, text in texts.items()}
    if solution is not None:
        prints[name_of_reference(texts)] = fingerprints(solution, common)
    return {
        "fingerprints": {
            who: {f"{one:016x}": line for one, line in sorted(found.items())}
            for who, found in sorted(prints.items())
        },
        "pairs": pairs_of(prints, threshold),
    }


def earlier(folder: pathlib.Path, lab: str) -> dict[str, str]:
    """The last submissions of another class, by its folder's name and the student's."""
    from book import Book

    if not (folder / "ledger.jsonl").exists():
        raise Problem(
            f"--against {folder}: not a class's folder. Name what an earlier ./lab grade-all wrote, its --out."
        )
    book = Book(folder, read_only=True)
    last = [one for one in book.state.latest.values() if one["lab"] == lab and one["sha256"]]
    files = {f"{folder.name}: {one['student']}": book.source(one["sha256"]) for one in last}
    return {who: file.read_text(encoding="utf-8", errors="replace") for who, file in files.items()}


def write(book, submissions, path: pathlib.Path, threshold: float, against: list[pathlib.Path]) -> None:
    """`submissions`: of the whole class (ingest.Submission); `against`: folders of other classes, whose pairs among
    themselves do not count."""
    from book import write_atomically

    root = pathlib.Path(book.harness["root"])
    labs = {}
    usable = [one for one in submissions if one.source is not None]
    for lab in sorted({one.lab for one in usable}):
        texts = {one.student: one.source.decode("utf-8", "replace") for one in usable if one.lab == lab}
        others = {who: text for folder in against for who, text in earlier(folder, lab).items()}
        strangers = others.keys() | {name_of_reference(texts | others)}
        labs[lab] = compare(root, lab, texts | others, threshold)
        labs[lab]["pairs"] = [pair for pair in labs[lab]["pairs"] if not {pair["a"], pair["b"]} <= strangers]
    out = {
        "schema": 1,
        "method": {"name": "winnowing", "k": K, "window": WINDOW, "hash": "blake2b-64"},
        "threshold": threshold,
        "labs": labs,
    }
    write_atomically(path, json.dumps(out, indent=1).encode() + b"\n")
