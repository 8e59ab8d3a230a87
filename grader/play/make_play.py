#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the page in which kernels run, as one file that loads nothing.

    make_play.py BUILD PAGE.html               # the solutions' kernels, and wrong versions of them
    make_play.py BUILD PAGE.html FILE.cu       # the kernels of a lab's file: ./lab play FILE.cu


BUILD contains the machine (build_wasm.py), the player of this computer and, for the first form, the records
of the solutions and their limits (`ninja play`): a kernel is offered for a block size only if the player runs
it correctly and without a finding. All kernels of a FILE are offered, right or wrong. It is compiled as it
is, and with the small blocks of make_versions.py if it has the constant kBlock.
"""

import base64
import difflib
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common/tools/authoring"))
import make_mutant
import make_versions
import records

ARCH = "arch=compute_90,code=compute_90"
NUMBER = re.compile(r"(?<=[\[,:])\d+(?=[\],}])")

ABOUT = {"solution": "the solution", "file": "your file"}


class Pool(dict[str, int]):
    """Things of which each is stored once, and numbers that stand for them."""

    def number(self, thing: str) -> int:
        return self.setdefault(thing, len(self))


class Packer:
    """One lab's programs, as small as possible. play.js unpacks what a run needs.

    All numbers of a task's work grow by a constant from length to length, as long as the number of blocks is
    the same. So a range of lengths is [first, last, template, numbers, growth]: the template is the work as
    JSON with # for each number, growth maps the index of a number to its growth, if that is not 0."""

    def __init__(self, programs: list[records.Program]) -> None:
        self.templates, self.ranges = Pool(), Pool()
        texts: dict = {}
        for program in programs:
            for copy in program.copies:
                for name, text in program.entries[copy].items():
                    texts.setdefault(text, (name, program.size, copy))
        # Similar texts follow each other, so the compression finds what they share.
        self.texts = Pool((text, k) for k, text in enumerate(sorted(texts, key=texts.get)))
        self.sizes = {program.size: self.of(program) for program in programs}

    def of(self, program: records.Program) -> dict:
        copies = {}
        for copy, tasks in program.copies.items():
            packed, kernels = {}, set()
            for task, variants in tasks.items():
                packed[task] = {}
                for variant, lengths in variants.items():
                    works = [(n, program.work(number)) for n, number in lengths]
                    kernels |= {w["kernel"] for _, work in works for w in work if "kernel" in w}
                    ranges = json.dumps(list(self.ranges_of(works)))
                    packed[task][variant] = self.ranges.number(ranges)
            entries = [self.texts.number(program.entries[copy][name]) for name in sorted(kernels)]
            head = self.texts.number(program.heads[copy])
            copies[copy] = {"head": head, "entries": entries, "tasks": packed}
        return copies

    def ranges_of(self, works: list[tuple[int, list[dict]]]) -> Iterator[list]:
        open_range: list | None = None
        for n, work in works:
            text = json.dumps(work, separators=(",", ":"))
            template = self.templates.number(NUMBER.sub("#", text))
            numbers = [int(number) for number in NUMBER.findall(text)]
            if open_range and open_range[2] == template and open_range[1] == n - 1:
                first, last, _, start, growth = open_range
                grown = [a - b for a, b in zip(numbers, start, strict=True)]
                if first == last or grown == [g * (n - first) for g in growth]:
                    open_range[1] = n
                    open_range[4] = [g // (n - first) for g in grown]
                    continue
            if open_range:
                yield self.closed(open_range)
            open_range = [n, n, template, numbers, [0] * len(numbers)]
        if open_range:
            yield self.closed(open_range)

    @staticmethod
    def closed(one: list) -> list:
        return [*one[:4], {k: growth for k, growth in enumerate(one[4]) if growth}]

    def packed(self) -> dict:
        return {
            "texts": list(self.texts),
            "templates": list(self.templates),
            "ranges": [json.loads(text) for text in self.ranges],
            "sizes": self.sizes,
        }


def edits(old: list[str], new: list[str]) -> list[list]:
    """How to make the lines `new` of the lines `old`: [first line, lines to remove, lines to insert], the
    last of them first."""
    changes = difflib.SequenceMatcher(None, old, new).get_opcodes()
    return [[a, b - a, new[c:d]] for kind, a, b, c, d in reversed(changes) if kind != "equal"]


def programs(build: pathlib.Path) -> Iterator[records.Program]:
    """The solutions' programs, with what the build has found to run (`limits`)."""
    for path in sorted((build / "grader/play").glob("play_*_*.json")):
        program = records.Program(path, path.stem.rsplit("_", 1)[1])
        limits = json.loads(path.with_suffix(".limits").read_text(encoding="utf-8"))
        left_out: dict = {}
        for which, most in sorted(limits.items()):
            left_out.setdefault((which.split()[0], most), []).append(which.split()[1])
        for (task, most), variants in left_out.items():
            short = f"{task} with more than {most} items" if most >= 0 else task
            all_of_them = len(variants) == len(program.copies["solution"][task])
            some = "" if all_of_them else f" ({', '.join(variants)})"
            print(f"{program.lab}, blocks of {program.size} threads: without {short}{some}")
        program.limit(limits)
        yield program


def labs_of(build: pathlib.Path, recorded: list[records.Program]) -> dict[str, dict]:
    """What the page offers, by lab: `shown` is what its form needs, `packed` the kernels and their
    launches."""
    command: list = [build / "grader/labcli", "list", "--json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    manifests = {lab["id"]: lab for lab in json.loads(listed.stdout)["labs"]}
    labs: dict[str, list] = {}
    for program in recorded:
        labs.setdefault(program.lab, []).append(program)
    return {name: lab_of(manifests[name], labs[name]) for name in manifests if name in labs}


def lab_of(manifest: dict, recorded: list[records.Program]) -> dict:
    recorded.sort(key=lambda program: (not program.size.isdigit(), len(program.size), program.size))
    copies = sorted({c for p in recorded for c in p.copies}, key=lambda c: (c != "solution", c))
    order = manifest["tasks"] + manifest.get("further_rungs", [])
    offered = {task for program in recorded for tasks in program.copies.values() for task in tasks}
    tasks = [{"id": t["id"], "title": t["title"]} for t in order if t["id"] in offered]
    versions = []
    for copy in copies:
        version = {"id": copy, "about": ABOUT.get(copy, copy)}
        mutant = ROOT / f"grader/mutants/{manifest['id']}/{copy}.mutant"
        if mutant.exists():
            header, _ = make_mutant.parse(mutant.read_text(encoding="utf-8"), copy)
            version |= {"task": header["task"][0], "about": header["about"][0]}
        versions.append(version)
    base = recorded[0].sources[copies[0]].split("\n")
    shown = {"title": manifest["title"], "tasks": tasks, "versions": versions, "items": recorded[0].items}
    packed = {
        **Packer(recorded).packed(),
        "source": base,
        "edits": {
            p.size: {copy: edits(base, p.sources[copy].split("\n")) for copy in p.copies} for p in recorded
        },
    }
    return {"shown": shown, "packed": packed}


def record_file(build: pathlib.Path, path: pathlib.Path, folder: pathlib.Path) -> list[records.Program]:
    """Compiles and records somebody's file. One Program for each size of its blocks that can be compiled."""
    text = make_mutant.source_of(path, ROOT)
    named = re.search(r"^namespace course::(\w+) \{", text, re.M)
    lab = named[1] if named else ""
    if not (ROOT / f"labs/{lab}/lab.hpp").is_file() or not lab:
        sys.exit(
            f"{path} is not a file of a lab: it has no line `namespace course::LAB {{` with a lab's name"
        )
    try:
        _, copy = make_mutant.in_namespace(text, "m_file", path)
    except make_mutant.MutantError as error:
        sys.exit(str(error))
    usual = make_versions.constant("kBlock").search(text)
    small = make_versions.offer_of(lab)["blocks"] if usual else {}
    sizes = [*small, usual[0].split("=")[1].strip(" ;") if usual else "as written"]
    recorded = []
    for size in sizes:
        stem = f"play_{lab}_{size.replace(' ', '_')}"
        source = folder / f"{stem}_file.cu"
        source.write_text(make_versions.with_size(copy, small.get(size, {})), encoding="utf-8")
        chooser = folder / f"{stem}.cpp"
        chooser.write_text(make_mutant.chooser(lab, ["file"]), encoding="utf-8")
        flags = f"-std=c++20 -O2 -lineinfo -cudart shared -gencode {ARCH} -ldl".split()
        rooms = ("common", "common/simulator", "common/harness", "labs", "grader")
        flags += [f"-I{folder}" for folder in (*(ROOT / room for room in rooms), path.parent)]
        files = [source, chooser, HERE / "record_main.cpp", "-o", folder / stem]
        command: list = [os.environ.get("NVCC", "nvcc"), *flags, f"-DCOURSE_LAB={lab}", *files]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            if size == sizes[-1]:
                sys.exit(done.stdout + done.stderr)
            print(f"It does not compile for blocks of {size} threads.")
            continue
        place = os.environ | {"LD_LIBRARY_PATH": str(build / "grader/play"), "SIM_QUIET": "1"}
        record = subprocess.run(
            [folder / stem, f"mutant_{lab}_file"], env=place, capture_output=True, text=True, check=True
        )
        (folder / f"{stem}.json").write_text(record.stdout, encoding="utf-8")
        program = records.Program(folder / f"{stem}.json", size)
        if program.copies["file"]:
            recorded.append(program)
    if not recorded:
        sys.exit(f"{path}: no task launches a kernel for up to 64 items")
    return recorded


def packed(contents: bytes) -> str:
    return base64.b64encode(gzip.compress(contents, 9, mtime=0)).decode()


def hash_of(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(build: pathlib.Path, labs: dict[str, dict]) -> str:
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

    def script(name: str, contents: str) -> str:
        return f'<script type="text/plain" id="{name}">{contents}</script>'

    def compressed(thing: object) -> str:
        return packed(json.dumps(thing, separators=(",", ":")).encode())

    parts = {
        "CSP": policy,
        "STYLE": text["play.css"],
        "SCRIPT": text["play.js"],
        "WORKER": script("worker", worker.replace("</script", "<\\/script")),
        "WASM": script("wasm", packed((build / "play/machine.wasm").read_bytes())),
        "LABS": script("labs", compressed({name: lab["shown"] for name, lab in labs.items()})),
        "EACH": "\n".join(script(f"lab-{name}", compressed(lab["packed"])) for name, lab in labs.items()),
    }
    return re.sub(r"@(CSP|STYLE|SCRIPT|WORKER|WASM|LABS|EACH)@", lambda m: parts[m[1]], text["play.html"])


def main() -> None:
    build, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if not (build / "play/machine.wasm").exists():
        sys.exit(
            "The simulator is not compiled to WebAssembly here, which needs emscripten. Install it, then repeat:\n"
            "    sudo apt-get install -y emscripten"
        )
    if len(sys.argv) > 3:
        with tempfile.TemporaryDirectory() as folder:
            recorded = record_file(build, pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(folder))
            labs = labs_of(build, recorded)
    else:
        labs = labs_of(build, list(programs(build)))
    html = page(build, labs)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(html, encoding="utf-8")
    megabytes = len(html) / 1e6, len(gzip.compress(html.encode(), 6)) / 1e6
    print(f"{out}: {megabytes[0]:.1f} MB, {megabytes[1]:.1f} MB compressed; open it in a browser")


if __name__ == "__main__":
    main()
