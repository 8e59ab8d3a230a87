#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the page in which kernels run, as one file that loads nothing.

    make_play.py BUILD PAGE.html               # the solutions' kernels, and wrong versions of them
    make_play.py BUILD PAGE.html FILE.cu       # the kernels of a lab's file: ./lab play FILE.cu

BUILD contains the machine (build_wasm.py), the player of this computer and, for the first form, the records
of the solutions (`ninja play`). Of these, a kernel is offered for a block size only if the player runs it
correctly and without a finding. All kernels of a FILE are offered, right or wrong. It is compiled as it is,
and with blocks of 8, 32 and 64 threads if it has the constant kBlock.
"""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common/tools"))
import make_mutant
import make_versions

ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry (\w+)\(", re.M)
TRIED = (7, 64)  # items


def split(ptx):
    """What all kernels share, and the text of each by its name."""
    entries, rest, end = {}, [], 0
    for found in ENTRY.finditer(ptx):
        rest.append(ptx[end : found.start()])
        end = ptx.index("\n}\n", found.start()) + 3
        entries[found[1]] = ptx[found.start() : end]
    rest.append(ptx[end:])
    return re.sub(r"\n{3,}", "\n\n", "".join(rest)), entries


class Program:
    """A record: one lab's copies with one block size."""

    def __init__(self, path, block):
        record = json.loads(path.read_text(encoding="utf-8"))
        self.lab, self.block, self.works = record["lab"], block, record["works"]
        ptx = record["ptx"].replace(f"{path.parent}/", "").replace(f"{ROOT}/", "")
        ptx = re.sub(rf"\b{path.stem}_(\w+)\.cu", rf"{self.lab}.cu", ptx)
        self.head, self.entries = split(ptx)
        prefix = f"mutant_{self.lab}_"
        self.copies = {name.removeprefix(prefix): tasks for name, tasks in record["copies"].items()}
        self.sources = {
            name: (path.parent / f"{path.stem}_{name}.cu").read_text(encoding="utf-8") for name in self.copies
        }

    def ptx(self, work):
        kernels = dict.fromkeys(w["kernel"] for w in work if "kernel" in w)
        return self.head + "".join(self.entries[k] for k in kernels)

    def request(self, copy, task, variant, n, items="random", seed=1, schedule=0):
        work = self.works[dict(map(tuple, self.copies[copy][task][variant]))[n]]
        return {
            "lab": self.lab,
            "task": task,
            "variant": variant,
            "n": n,
            "items": items,
            "seed": seed,
            "schedule": schedule,
            "ptx": self.ptx(work),
            "work": work,
        }

    def keep_what_runs(self, player):
        """Removes the kernels that need larger blocks: what the course's own solution gets wrong here."""
        asked = [
            (copy, task, variant, n)
            for copy, tasks in self.copies.items()
            for task, variants in tasks.items()
            for variant, lengths in variants.items()
            for n in TRIED
            if copy == "solution" and n in dict(map(tuple, lengths))
        ]
        bad = set()
        answers = run(player, [self.request(*which) for which in asked])
        for (_, task, _, _), answer in zip(asked, answers, strict=True):
            if (
                answer.get("error")
                or answer.get("fault")
                or answer.get("findings")
                or not answer.get("right")
            ):
                bad.add(task)
        for tasks in self.copies.values():
            for task in bad & tasks.keys():
                del tasks[task]
        self.copies = {name: tasks for name, tasks in self.copies.items() if tasks}
        return bad

    def compact(self):
        """Without kernels and work that nothing refers to any more."""
        used = sorted(
            {w for tasks in self.copies.values() for v in tasks.values() for ls in v.values() for _, w in ls}
        )
        number = {w: k for k, w in enumerate(used)}
        works = [self.works[w] for w in used]
        kernels = {w["kernel"] for work in works for w in work if "kernel" in w}
        return {
            "head": self.head,
            "entries": {name: text for name, text in self.entries.items() if name in kernels},
            "works": works,
            "copies": {
                name: {
                    task: {v: [[n, number[w]] for n, w in ls] for v, ls in variants.items()}
                    for task, variants in tasks.items()
                }
                for name, tasks in self.copies.items()
            },
        }


def run(player, requests):
    """The player's answers to requests."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([player], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def programs(build):
    for path in sorted((build / "grader/play").glob("play_*_*.json")):
        yield Program(path, path.stem.rsplit("_", 1)[1])


def labs_of(build, player, records):
    listed = subprocess.run(
        [build / "grader/labcli", "list", "--json"], capture_output=True, text=True, check=True
    )
    manifests = {lab["id"]: lab for lab in json.loads(listed.stdout)["labs"]}
    labs = {}
    for program in records:
        if player is not None and (left_out := program.keep_what_runs(player)):
            print(f"{program.lab}, blocks of {program.block}: without {', '.join(sorted(left_out))}")
        lab = labs.setdefault(program.lab, {"blocks": {}, "sources": {}, "versions": [], "tasks": []})
        lab["title"] = manifests[program.lab]["title"]
        lab["blocks"][program.block] = program.compact()
        lab["sources"].update(program.sources)
    for name, lab in labs.items():
        order = manifests[name]["tasks"] + manifests[name].get("further_rungs", [])
        offered = {
            task for one in lab["blocks"].values() for tasks in one["copies"].values() for task in tasks
        }
        lab["tasks"] = [{"id": t["id"], "title": t["title"]} for t in order if t["id"] in offered]
        lab["tasks"] += [
            {"id": t, "title": t.replace("_", " ")} for t in sorted(offered - {t["id"] for t in order})
        ]
        for copy in lab["sources"]:
            version = {"id": copy, "about": "the solution" if copy == "solution" else "your file"}
            mutant = ROOT / f"grader/mutants/{name}/{copy}.mutant"
            if mutant.exists():
                header, _ = make_mutant.parse(mutant.read_text(encoding="utf-8"), copy)
                version |= {"task": header["task"][0], "about": header["about"][0]}
            lab["versions"].append(version)
        lab["versions"].sort(key=lambda v: (v["id"] != "solution", v["id"]))
    return {"labs": labs}


def record_file(build, path, folder):
    """Compiles and records somebody's file. One Program for each size of its blocks that can be compiled."""
    text = path.read_text(encoding="utf-8")
    named = re.search(r"^namespace course::(\w+) \{", text, re.M)
    lab = named[1] if named else ""
    if not (ROOT / f"labs/{lab}/lab.hpp").is_file() or not lab:
        sys.exit(f"{path} is no file of a lab: it has no line `namespace course::LAB {{` with a lab's name")
    usual = re.search(make_versions.BLOCK, text)
    sizes = [*make_versions.SMALL, usual[0].rstrip(";").split()[-1]] if usual else ["as written"]
    records = []
    for size in sizes:
        stem = f"play_{lab}_{size.replace(' ', '_')}"
        source = folder / f"{stem}_file.cu"
        source.write_text(make_versions.with_block(text, size) if usual else text, encoding="utf-8")
        flags = (
            "-std=c++20 -O2 -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -ldl".split()
        )
        flags += [
            f"-I{ROOT / room}" for room in ("common", "common/simulator", "common/harness", "labs", "grader")
        ]
        flags += [f"-I{path.parent}", f"-DCOURSE_LAB={lab}"]
        command = [
            os.environ.get("NVCC", "nvcc"),
            *flags,
            source,
            HERE / "record_main.cpp",
            "-o",
            folder / stem,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            if size == sizes[-1]:
                sys.exit(done.stdout + done.stderr)
            print(f"It does not compile for blocks of {size} threads.")
            continue
        place = os.environ | {"LD_LIBRARY_PATH": str(build / "grader/play"), "SIM_QUIET": "1"}
        record = subprocess.run(
            [folder / stem, "file"], env=place, capture_output=True, text=True, check=True
        )
        (folder / f"{stem}.json").write_text(record.stdout, encoding="utf-8")
        program = Program(folder / f"{stem}.json", size)
        if program.copies["file"]:
            records.append(program)
    if not records:
        sys.exit(f"{path}: no task launches a kernel for up to 64 items")
    return records


def packed(contents):
    return base64.b64encode(gzip.compress(contents, 9, mtime=0)).decode()


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(build, data):
    text = {
        name: (HERE / name).read_text(encoding="utf-8")
        for name in ("play.html", "play.css", "play.js", "worker.js")
    }
    # Emscripten's part is not ours to wrap: only what would end a script element is a danger here.
    worker = (build / "play/machine.js").read_text(encoding="utf-8") + "\n" + text["worker.js"]
    policy = (
        f"default-src 'none'; script-src {hash_of(text['play.js'])} 'wasm-unsafe-eval'; "
        f"style-src {hash_of(text['play.css'])}; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "CSP": policy,
        "STYLE": text["play.css"],
        "SCRIPT": text["play.js"],
        "WORKER": worker.replace("</script", "<\\/script"),
        "WASM": packed((build / "play/machine.wasm").read_bytes()),
        "DATA": packed(json.dumps(data, separators=(",", ":")).encode()),
    }
    return re.sub(r"@(CSP|STYLE|SCRIPT|WORKER|WASM|DATA)@", lambda match: parts[match[1]], text["play.html"])


def main():
    build, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if not (build / "play/machine.wasm").exists():
        sys.exit(
            "The simulator is not compiled to WebAssembly here; that needs emcc: apt-get install emscripten"
        )
    if len(sys.argv) > 3:
        with tempfile.TemporaryDirectory() as folder:
            records = record_file(build, pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(folder))
            data = labs_of(build, None, records)
    else:
        data = labs_of(build, build / "grader/play/player_native", programs(build))
    html = page(build, data)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(html, encoding="utf-8")
    print(f"{out}: {len(html) / 1e6:.1f} MB; open it in a browser")


if __name__ == "__main__":
    main()
