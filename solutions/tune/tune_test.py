#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab tune chooses from measured times and writes a table's rows. The argument is tuning.hpp."""

import re
import sys
import unittest

import tune

HEADER = sys.argv.pop()
HEAD = "# NVIDIA Example, compute capability 89\nlab,threads x rows x blocks x lag x slots,log2 n,us,differences\n"
TIMES = """scan,CUB,20,9.00,0
scan,CUB,24,30.00,0
scan,table,20,10.00,0
scan,table,24,40.00,0
scan,256x3x1x3x6,20,8.00,0
scan,256x3x1x3x6,24,40.00,0
scan,512x2x2x3x6,20,1.00,5
scan,512x2x2x3x6,24,30.00,0
scan,384x8x1x2x4,20,does not fit,
compaction,table,20,10.00,0
compaction,320x4x2x3x5,20,9.90,0
"""


class Tune(unittest.TestCase):
    def setUp(self):
        self.device, self.capability, self.means = tune.read(HEAD + TIMES)
        with open(HEADER, encoding="utf-8") as file:
            self.header = file.read()

    def test_reads_the_device(self):
        self.assertEqual((self.device, self.capability), ("NVIDIA Example", 89))

    def test_chooses_the_fastest_candidate_that_fits_and_is_right(self):
        self.assertEqual(tune.choice(self.means["scan"]), "256x3x1x3x6")

    def test_keeps_the_present_choice_within_the_noise(self):
        self.assertIsNone(tune.choice(self.means["compaction"]))

    def test_refuses_without_a_candidate(self):
        with self.assertRaises(tune.Refused):
            tune.choice({"table": 1.0, "CUB": 1.0})

    def test_refuses_output_without_a_device(self):
        with self.assertRaises(tune.Refused):
            tune.read("tune: device: no CUDA-capable device is detected\n")

    def test_adds_a_row_for_a_new_device(self):
        header = tune.with_row(self.header, "ScanInWaves", 89, "256x3x1x3x6")
        self.assertIn("Row<89, RingTuning<TileTuning<256, 3, 1>, 3, 6>>", header)
        self.assertEqual(header.count("Row<90,"), self.header.count("Row<90,"))
        self.assertEqual(header.count("Row<89,"), 1)

    def test_replaces_the_row_of_a_known_device(self):
        header = tune.with_row(self.header, "CompactionInWaves", 90, "512x2x2x3x6")
        self.assertEqual(header.count("Row<90,"), self.header.count("Row<90,"))
        self.assertIn("Row<90, RingTuning<TileTuning<512, 2, 2>, 3, 6>>", header)
        self.assertEqual(tune.with_row(header, "CompactionInWaves", 90, "512x2x2x3x6"), header)

    def test_writes_the_present_rows_as_they_are(self):
        capability, *numbers = re.search(
            r"Row<(\d+), RingTuning<TileTuning<(\d+), (\d+), (\d+)>, (\d+), (\d+)>>", self.header
        ).groups()
        self.assertEqual(
            tune.with_row(self.header, "ScanInWaves", int(capability), "x".join(numbers)), self.header
        )


if __name__ == "__main__":
    unittest.main()
