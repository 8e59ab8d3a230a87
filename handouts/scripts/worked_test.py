#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The worked examples keep what they are about: sorts sort, scans add up, a look-back finds what a sum
finds."""

import importlib
import math
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import worked
from worked import compaction, hierarchical_scan, histogram, multi_gpu, radix_sort, reduction, sat, scan

ITEMS = worked.ITEMS


class Worked(unittest.TestCase):
    def test_tables_are_markdown(self):
        self.assertEqual(worked.table(["a", "b"], [[1, ""]], "lr"), "| a | b |\n|---|--:|\n| 1 | |\n")

    def test_every_example_that_a_page_shows_is_there(self):
        shown = {
            m
            for page in HERE.parent.glob("*.md")
            for m in re.findall(r"<!-- quote: worked (\w+) (\w+)", page.read_text(encoding="utf-8"))
        }
        self.assertGreater(len(shown), 20)
        for lab, name in shown:
            self.assertTrue(hasattr(importlib.import_module(f"worked.{lab}"), name), name)

    def test_a_look_back_is_right_under_every_schedule(self):
        totals, lengths = (5, 3, 6, 2, 4), set()
        for seed in range(300):
            events, read = hierarchical_scan.scheduled(seed, totals)
            self.assertEqual(
                events[-1].statuses, [("prefix", sum(totals[: i + 1])) for i in range(len(totals))]
            )
            self.assertEqual([event.tickets for event in events], sorted(event.tickets for event in events))
            lengths.add(max(read))
        # A prefix is next to each tile in order; at worst a tile reads all tiles before it.
        self.assertEqual(max(hierarchical_scan.scheduled(0, totals)[1]), 1)
        self.assertEqual(max(lengths), len(totals) - 1)

    def test_what_is_not_there_is_said(self):
        for wrong in ["scan nothing", "no_lab both"]:
            with self.assertRaises(SystemExit) as said:
                worked.worked(wrong)
            self.assertIn("has no", str(said.exception))

    def test_networks_scan_with_the_known_numbers_of_operations(self):
        for log in range(1, 8):
            n = 2**log
            of = {network: scan.executed(network, n)[1:3] for network in scan.NETWORKS.values()}
            self.assertEqual(of[scan.kogge_stone], (n * log - (n - 1), log))
            self.assertEqual(of[scan.sklansky], (n * log // 2, log))
            self.assertEqual(of[scan.brent_kung][0], 2 * n - 2 - log)
            self.assertEqual(of[scan.ladner_fischer][1], log)
            self.assertLessEqual(of[scan.ladner_fischer][0], of[scan.sklansky][0])
        self.assertIn("| Ladner–Fischer | 74 | 5 |", scan.networks(32))

    def test_scans(self):
        self.assertEqual(worked.inclusive(ITEMS)[-1], sum(ITEMS))
        self.assertEqual(scan.swept(ITEMS)[3], worked.exclusive(ITEMS)[0])

    def test_halving_ends_with_the_sum(self):
        lines = reduction.halving().splitlines()[2:]
        left = [cell.strip(" `") for cell in (line.split("|")[-2] for line in lines)]
        first = lines[0].split("`")[1].split()
        self.assertEqual(int(left[-1]), sum(map(int, first)))
        self.assertEqual(len(lines), math.floor(math.log2(len(first))))

    def test_a_pack_keeps_order(self):
        self.assertIn("output           3   1   0   1   3", compaction.pack())
        self.assertIn("**prefix 16**", compaction.look_back())

    def test_splits_sort_stably(self):
        keys = ITEMS
        for bit in range(3):
            rows, zeros = radix_sort.split_once(keys, bit)
            self.assertEqual(sorted(rows["d"]), list(range(8)))
            self.assertEqual(zeros, sum(1 for key in keys if not key >> bit & 1))
            keys = rows["**out**"]
        self.assertEqual(keys, sorted(ITEMS))
        two_bits = sorted(ITEMS, key=lambda key: key & 3)
        self.assertIn(f"`{worked.row(two_bits)}`", radix_sort.by_digits())
        self.assertIn(
            worked.row(sorted(ITEMS)), radix_sort.merge().splitlines()[-1].replace("*", "").replace(" ·", "")
        )

    def test_flips_keep_the_order_of_numbers(self):
        flipped = re.findall(r"`\w{8}` \| `(\w{8})`", radix_sort.flips())
        self.assertEqual(flipped[:3], sorted(flipped[:3]))
        self.assertEqual(flipped[3:], sorted(flipped[3:]))

    def test_histograms_lose_nothing(self):
        self.assertIn(f"`{worked.row(histogram.KEYS.count(b) for b in range(4))}`", histogram.racy())
        self.assertEqual(
            sum(map(int, re.findall(r"\*\*(\d+)\*\* \|$", histogram.private(), re.M))), len(ITEMS)
        )

    def test_tables_of_sums(self):
        image = sat.WIDE
        for r, line in enumerate(sat.upwards(sat.by_rows(image))):
            for c, entry in enumerate(line):
                self.assertEqual(entry, sum(sum(row[: c + 1]) for row in image[r:]))
        self.assertEqual(sat.turned(sat.turned(image)), image)
        self.assertIn("= 7,", sat.look_ups())

    def test_floats_are_summed_in_float(self):
        image = [sat.array.array("f", [0.1, 0.7, 0.3]) for _ in range(3)]
        last = sat.float_sums(image, 0.0)
        self.assertEqual(len(last), 3)
        self.assertNotEqual(last[-1][-1], math.fsum(x for line in image for x in line), "rounded")
        self.assertAlmostEqual(last[-1][-1], 3.3, places=5)

    def test_levels_end_with_one_tile(self):
        for line in hierarchical_scan.levels().splitlines()[2:]:
            n, *counts = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
            counts, levels = [int(c) for c in counts[:-1] if c], int(counts[-1])
            self.assertEqual((counts[-1], len(counts)), (1, levels), n)

    def test_a_ring_sends_one_chunk_a_step_and_ends_with_all_sums(self):
        for n in (2, 3, 5, 8):
            *steps, (_, last, _) = multi_gpu.ring(n)
            self.assertEqual(len(steps), 2 * (n - 1))
            self.assertTrue(all(sorted(received) == list(range(n)) for _, _, received in steps[1:]))
            self.assertTrue(all(chunk == set(range(n)) for rank in last for chunk in rank))

    def test_an_exchange_sorts_and_keeps_every_length(self):
        for shards in (
            [[5, 5, 5], [5], [5, 5]],
            [[3, 2], [], [1]],
            [[], [], [2, 2, 1]],
            multi_gpu.SORT_SHARDS,
        ):
            _, cuts, _received, results = multi_gpu.sorted_by_exchange(shards)
            self.assertEqual([len(one) for one in results], [len(one) for one in shards])
            self.assertEqual(sum(results, []), sorted(sum(shards, [])))
            self.assertTrue(all(row == sorted(row) for row in cuts))


if __name__ == "__main__":
    unittest.main()
