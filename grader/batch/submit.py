#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab submit: grades your labs' files, packs them into one archive to hand in, and says what is in it."""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from ending import Problem, run_to_end
from ingest import read_plain

EPILOG = """
Only labs/LAB/LAB.cu is packed; other files would not be looked at. Without
names: every lab in which a task is implemented (with --no-check: every lab).
Before packing, your files are graded on the simulator, so that you see what
you hand in.
"""


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./lab submit",
        description="Packs your files to hand them in.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("labs", nargs="*", metavar="LAB")
    parser.add_argument("--out", metavar="FILE", default="submission.zip", help="default: submission.zip")
    parser.add_argument("--no-check", action="store_true", help="pack at once, without grading first")
    return parser.parse_args(argv)


def labs_here(labcli: str, wanted: list[str]) -> list[str]:
    done = subprocess.run([labcli, "list", "--json"], stdout=subprocess.PIPE, check=False)
    known = [lab["id"] for lab in json.loads(done.stdout)["labs"]] if done.returncode == 0 else []
    known = [lab for lab in known if lab != "demo"]  # the student edition's, which nobody submits
    for lab in wanted:
        if lab not in known:
            raise Problem(f'There is no lab "{lab}"; there is: {", ".join(known)}.')
    return [lab for lab in known if lab in wanted] if wanted else known


def read_files(root: pathlib.Path, labs: list[str]) -> dict[str, bytes]:
    files = {}
    for lab in labs:
        name = f"labs/{lab}/{lab}.cu"
        if not os.path.lexists(root / name):
            raise Problem(
                f"{name} is not there. Bring it back (git checkout {name}) or name the labs to pack."
            )
        is_link = (root / name).is_symlink()
        data = "is a link: put the file itself there" if is_link else read_plain(str(root / name))
        if isinstance(data, str):
            raise Problem(f"{name} {data}.")
        files[lab] = data
    return files


def grade(labcli: str, labs: list[str]) -> dict[str, dict]:
    """What ./lab grade says of each lab on the simulator; it also prints its table."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "result.json"
        words = [labcli, "grade", *labs, "--device", "sim", "--json", str(path)]
        code = subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode
        if not path.exists():
            raise Problem(
                f"The files could not be graded (exit code {code}); --no-check packs them all the same."
            )
        return {lab["id"]: lab for lab in json.loads(path.read_text(encoding="utf-8"))["labs"]}


def pack(path: pathlib.Path, files: dict[str, bytes]) -> None:
    """Writes the archive as a whole, or not at all."""
    if path.is_dir():
        raise Problem(f"{path} is a folder; a file name is needed.")
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    now = time.gmtime()[:6]
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for lab, data in files.items():
                archive.writestr(zipfile.ZipInfo(f"labs/{lab}/{lab}.cu", now), data, zipfile.ZIP_DEFLATED)
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Problem(f"{path} can't be written: {error.strerror}.") from None


def untouched(result: dict) -> bool:
    return all(task["verdict"] == "NOT_IMPLEMENTED" for task in result["tasks"])


def run(options: argparse.Namespace) -> int:
    root, build = pathlib.Path(os.environ.get("LAB_ROOT", ".")), os.environ.get("LAB_BUILD", "build")
    labcli = f"{build}/grader/labcli"
    if not os.access(labcli, os.X_OK):
        raise Problem("Run this as ./lab submit: it needs the built tools.")
    labs = labs_here(labcli, options.labs)
    files = read_files(root, labs)
    results = {} if options.no_check else grade(labcli, labs)
    if not options.labs and results:
        labs = [lab for lab in labs if not untouched(results[lab])]
        if not labs:
            raise Problem(
                "Nothing is implemented yet, so there is nothing to hand in. Name a lab to pack its file as it is."
            )
    files = {lab: files[lab] for lab in labs}
    path = pathlib.Path(options.out)
    pack(path, files)
    print(f"Packed into {path}:", flush=True)
    for lab, data in files.items():
        print(f"  labs/{lab}/{lab}.cu  {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}…")
    if results:
        print("The table above has your points here. The course's machine gives the grade.")
    return 0


def main() -> None:
    run_to_end(lambda: run(arguments(sys.argv[1:])))


if __name__ == "__main__":
    main()
