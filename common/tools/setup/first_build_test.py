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
import tempfile
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
        of_other = re.compile(rf"libcudart\.so\.{other}|(abi|twins|stubs){other}")
        self.assertEqual([file for file in needed("reduction") if of_other.search(file)], [])


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
        script = "source common/tools/setup/prebuilt.sh && list_sources"
        known = set(
            "".join(lines("bash", "-ec", script, cwd=ROOT, env=os.environ | {"LAB_ROOT": str(ROOT)})).split(
                "\0"
            )
        )
        self.assertIn("grader/layout.cpp", inside)
        cache = "common/tools/cache/ccache"  # what calls the compiler
        self.assertEqual(sorted(inside - known - {cache}), [])

    def test_a_request_means_the_same_to_another_library(self):
        """A student's file is compiled with the system's standard library, the tools were with another."""
        with tempfile.TemporaryDirectory() as folder:
            there = pathlib.Path(folder)
            (there / "other").mkdir()
            (there / "other/span").write_text(SPAN_OF_ANOTHER_LIBRARY)
            for name, text in [("write.cpp", WRITES_A_REQUEST), ("read.cpp", READS_A_REQUEST)]:
                (there / name).write_text(text)
            compiler = ["g++", "-std=c++20", f"-I{ROOT}/common/harness"]
            lines(*compiler, there / "write.cpp", "-o", there / "write")
            lines(*compiler, f"-I{there}/other", there / "read.cpp", "-o", there / "read")
            written = subprocess.run([there / "write"], capture_output=True, check=True).stdout
            read = subprocess.run([there / "read"], input=written, capture_output=True, check=True).stdout
        self.assertEqual(read.decode().split(), "7 0x1000 2 0x2000 3 0x3000 4 0x4000 66".split())


# As far as request.hpp needs it. In that of GCC 10, too, the number comes first.
SPAN_OF_ANOTHER_LIBRARY = """#pragma once
#include <cstddef>
namespace std {
template <typename T>
struct span {
  span() = default;
  span(T* first, size_t n_items) : size_(n_items), data_(first) {}
  size_t size() const { return size_; }
  T* data() const { return data_; }
  size_t size_ = 0;
  T* data_ = nullptr;
};
}
"""
WRITES_A_REQUEST = """#include <cstdio>
#include "lab/request.hpp"
int main() {
  const auto at = [](auto address) { return reinterpret_cast<void*>(address); };
  course::lab::Request request;
  request.n = 7;
  request.inputs = {static_cast<course::lab::DeviceBuffer*>(at(0x1000)), 2};
  request.outputs = {static_cast<course::lab::DeviceBuffer*>(at(0x2000)), 3};
  request.ranks = {static_cast<course::lab::Rank*>(at(0x3000)), 4};
  request.d_workspace = at(0x4000);
  request.multiprocessors = 66;
  return std::fwrite(&request, sizeof request, 1, stdout) == 1 ? 0 : 1;
}
"""
READS_A_REQUEST = """#include <cstdio>
#include "lab/request.hpp"
int main() {
  course::lab::Request request;
  if (std::fread(static_cast<void*>(&request), sizeof request, 1, stdin) != 1) return 1;
  std::printf("%d %p %d %p %d %p %d %p %d", int(request.n), (void*)request.inputs.data(), int(request.inputs.size()),
              (void*)request.outputs.data(), int(request.outputs.size()), (void*)request.ranks.data(),
              int(request.ranks.size()), request.d_workspace, request.multiprocessors);
}
"""


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
