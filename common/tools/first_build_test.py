#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a command that names one lab builds: nothing of other labs' runners, of NCCL or of another CUDA
version. And what prebuilt tools are made of: a change of such a file must not go unnoticed.

usage: first_build_test.py ROOT BUILD CUDA_MAJOR
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT, BUILD, CUDA = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
LABS = sorted(path.parent.name for path in ROOT.glob("labs/*/lab.hpp"))


def needed(lab):
    """The files that are made for it."""
    command = ["ninja", "-C", BUILD, "-t", "commands", "tools", f"parts_of_{lab}"]
    return re.findall(
        r" -o (\S+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


class FirstBuild(unittest.TestCase):
    def test_only_the_runner_of_the_lab(self):
        for lab in LABS:
            parts = {
                match[1] for file in needed(lab) if (match := re.search(r"runner/\w+_part_(\w+)\.o$", file))
            }
            self.assertEqual(parts, {lab})

    def test_nccl_only_for_several_devices(self):
        for lab in LABS:
            several = "most_devices" in (ROOT / f"labs/{lab}/points.hpp").read_text(encoding="utf-8")
            self.assertEqual(any(file.endswith("libnccl.so.2") for file in needed(lab)), several, lab)

    def test_only_the_cuda_version_in_use(self):
        other = {"12": "13", "13": "12"}[CUDA]
        self.assertEqual(
            [
                file
                for file in needed("reduction")
                if re.search(rf"libcudart\.so\.{other}|(abi|twins|stubs){other}", file)
            ],
            [],
        )


def lines(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout.splitlines()


class PrebuiltTools(unittest.TestCase):
    def test_every_source_has_a_digest(self):
        targets = ["tools", "parts_of_labs", "debugger", "simulators"]
        used = set(lines("ninja", "-C", BUILD, "-t", "inputs", *targets))
        made = set(
            re.findall(r" -o (\S+)", "\n".join(lines("ninja", "-C", BUILD, "-t", "commands", *targets)))
        )
        of_interest = False
        for line in lines("ninja", "-C", BUILD, "-t", "deps"):
            if not line.startswith(" "):
                of_interest = line.split(":")[0] in made
            elif of_interest:
                used.add(line.strip())
        self.assertGreater(len(used), 500)
        root = os.path.realpath(ROOT)
        inside = {
            os.path.relpath(path, root)
            for name in used
            if (path := os.path.realpath(os.path.join(BUILD, name))).startswith(f"{root}/")
            and not path.startswith(os.path.realpath(BUILD) + "/")
            and os.path.isfile(path)  # ninja also remembers what is gone
        }
        script = "source common/tools/prebuilt.sh && list_sources"
        known = set(
            "".join(lines("bash", "-ec", script, cwd=ROOT, env=os.environ | {"LAB_ROOT": str(ROOT)})).split(
                "\0"
            )
        )
        self.assertIn("grader/layout.cpp", inside)
        cache = "common/tools/cache/ccache"  # what calls the compiler
        self.assertEqual(sorted(inside - known - {cache}), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
