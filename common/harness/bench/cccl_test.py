#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab bench --cccl with the toolkit's own CUB, as if it were another version: cccl_test.py LABCLI
TOOLKIT"""

import json
import pathlib
import subprocess
import sys
import tempfile

labcli, toolkit = sys.argv[1], pathlib.Path(sys.argv[2])
cccl = toolkit / "include" / "cccl"
if not (cccl / "cub" / "version.cuh").is_file():
    print(f"{cccl} has no CUB: before CUDA 13 it lies elsewhere")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "bench.json"
    words = ["--device", "sim", "--sizes", "4096", "--no-cpu", "--cccl", cccl, "--json", file]
    subprocess.run([labcli, "bench", "reduction", *words], check=True)
    lab = json.loads(file.read_text(encoding="utf-8"))["labs"][0]
versions = lab["cccl"]
assert len(versions) == 2 and versions[0] == versions[1], versions
rows = {row["name"]: row for row in lab["sizes"][0]["tables"][0]["rows"]}
short = ".".join(versions[0].split(".")[:2])
own, other = rows["CUB DeviceReduce"], rows[f"CUB {short} DeviceReduce"]
assert own["right"] and other["right"], (own, other)
assert own["counted"] == other["counted"], (own, other)
