#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A bench program of a lab for several devices, on the simulator: several_devices_test.py FOLDER_OF_LIBCUDART
PROGRAM"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LIBRARIES, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)


def run(n_devices, gpus):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "bench.json"
        done = subprocess.run(
            [PROGRAM, "--gpus", str(gpus), "--sizes", "1000,4096", "--no-cpu", "--json", file],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"LD_LIBRARY_PATH": LIBRARIES, "SIM_DEVICES": str(n_devices)},
        )
        return done, json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


class SeveralDevices(unittest.TestCase):
    def test_every_rung_is_right_on_each_number_of_devices(self):
        for gpus in (1, 2, 3):
            done, results = run(3, gpus)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(results["gpus"], gpus)
            for size in results["sizes"]:
                rows = [row for table in size["tables"] for row in table["rows"]]
                self.assertIn("sort", [row["name"] for row in rows])
                for row in rows:
                    self.assertTrue(row["right"], row)
                    self.assertGreater(row["median_us"], 0)
                    self.assertGreater(row["counted"]["bytes"], 0)

    def test_more_devices_take_longer_for_as_many_items_each(self):
        us = [
            {
                row["name"]: row["median_us"]
                for table in run(3, gpus)[1]["sizes"][1]["tables"]
                for row in table["rows"]
            }
            for gpus in (1, 3)
        ]
        self.assertGreater(us[1]["sort"], us[0]["sort"])

    def test_bus_bandwidth_is_what_a_device_must_send(self):
        self.assertEqual(run(2, 1)[1]["sizes"][0]["nccl"], [])
        for gpus in (2, 3):
            rows = {row["name"]: row for row in run(3, gpus)[1]["sizes"][1]["nccl"]}
            for name, passes in (("ncclAllReduce", 2), ("all to all", 1)):
                row = rows[name]
                self.assertAlmostEqual(
                    row["bus_gb_per_s"], passes * (gpus - 1) / gpus * row["bytes"] / row["median_us"] / 1e3
                )

    def test_too_few_devices_are_one_line(self):
        done, _ = run(2, 3)
        self.assertEqual(
            (done.returncode, done.stderr), (1, "bench: 3 devices are wanted, and 2 are there\n")
        )


if __name__ == "__main__":
    unittest.main()
