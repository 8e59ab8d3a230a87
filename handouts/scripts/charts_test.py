#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of what charts.py computes before anything is drawn.

usage: charts_test.py LABCLI
"""

import itertools
import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import charts
import plot

LABCLI = sys.argv[1] if len(sys.argv) > 1 else ""


class Axes(unittest.TestCase):
    def test_a_logarithmic_axis_encloses_its_values(self):
        for values in ([3, 40], [0.7, 0.7], [10, 99_000], [1, 1000]):
            low, high = plot.logarithmic(values, str)["scale"]["domain"]
            self.assertLessEqual(low, min(values))
            self.assertGreaterEqual(high, max(values))

    def test_a_linear_axis_begins_at_zero(self):
        for most in (0.03, 1, 3.1, 99, 100.5):
            low, high = plot.linear(most)["scale"]["domain"]
            self.assertEqual(low, 0)
            self.assertGreaterEqual(high, most)

    def test_a_tick_has_its_words(self):
        shown = plot.axis([1, 2], lambda t: f"{t} %")["axis"]["labelExpr"]
        self.assertEqual(shown, 'datum.value == 1 ? "1 %" : datum.value == 2 ? "2 %" : \'\'')

    def test_names_at_lines_do_not_overlap(self):
        placed = plot.apart([[100, "a"], [101, "b"], [10, "c"], [102, "d"]], 100)
        places = [y for y, _ in placed]
        self.assertTrue(all(b - a >= 15 for a, b in itertools.pairwise(places)), places)
        self.assertLessEqual(places[-1], 106)
        self.assertEqual([name for _, name in placed], ["c", "a", "b", "d"])

    def test_a_name_beside_a_point_covers_nothing(self):
        taken = [(95, -5, 105, 5), (110, -5, 120, 5)]  # its own point, and one to its right
        for _ in range(5):
            left, top, right, bottom = plot.beside(100, 0, "name", taken)
            for a, b, c, d in taken:
                self.assertTrue(right <= a or left >= c or bottom <= b or top >= d, (taken, left, top))
            taken.append((left, top, right, bottom))


class Digests(unittest.TestCase):
    def test_the_last_digits_do_not_count(self):
        def digest(value):
            layer = [{"data": {"values": [{"x": 1, "y": value}]}, "mark": "line"}]
            return plot.Chart([plot.Plot(layer, 10)], 10, 10, "", "").digest()

        # sum([0.1] * 10) of Python 3.11, and of 3.12, which corrects what rounding loses
        self.assertEqual(digest(0.9999999999999999), digest(1.0))
        self.assertNotEqual(digest(1.0), digest(1.001))


class Names(unittest.TestCase):
    def test_a_library_is_named_with_its_version(self):
        self.assertEqual(charts.library_name("CUB DeviceScan by row", ["3.0.1", "3.5.0"]), "CUB 3.0")
        self.assertEqual(charts.library_name("CUB 3.5 DeviceScan by row", ["3.0.1", "3.5.0"]), "CUB 3.5")
        self.assertEqual(charts.library_name("CUB DeviceScan", None), "CUB")


@unittest.skipUnless(LABCLI, "no labcli")
class Charts(unittest.TestCase):
    NAMES = [name for name in charts.CHARTS if name not in charts.SIMULATED]

    def test_colours_have_a_dark_counterpart(self):
        for name in self.NAMES:
            text = json.dumps(charts.made(name, LABCLI).specification())
            self.assertEqual(set(re.findall(r"#[0-9a-f]{6}", text)) - set(plot.INKS), set(), name)

    def test_texts_say_what_was_drawn(self):
        for name in self.NAMES:
            one = charts.made(name, LABCLI)
            self.assertRegex(one.alt, r"\d.*\.$", name)
            self.assertRegex(one.caption, r"\.$", name)
            self.assertNotIn("]", one.alt, name)

    def test_a_limit_far_away_does_not_flatten_curves(self):
        one = charts.made("rate-radix-sort", LABCLI)
        text = json.dumps(one.specification())
        self.assertNotIn("memory", text)
        self.assertIn("CUB 3.0", text)
        self.assertIn("beyond the axis", one.caption)
        _, high = one.plots[0].layer[0]["encoding"]["y"]["scale"]["domain"]
        self.assertLess(high, 1)
        self.assertIn('"memory"', json.dumps(charts.made("rate-scan", LABCLI).specification()))

    def test_the_digest_follows_the_numbers(self):
        one = charts.made("rate-scan", LABCLI)
        before = one.digest()
        value = one.plots[0].layer[0]["data"]["values"][0]
        kept, value["y"] = value["y"], value["y"] + 1
        self.assertNotEqual(one.digest(), before)
        value["y"] = kept
        self.assertEqual(one.digest(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
