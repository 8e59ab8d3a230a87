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

LABCLI = sys.argv[1] if len(sys.argv) > 1 else ""


class Axes(unittest.TestCase):
    def test_a_logarithmic_axis_encloses_its_values(self):
        for values in ([3, 40], [0.7, 0.7], [10, 99_000], [1, 1000]):
            low, high = charts.Axis("", 10).domain(values)
            self.assertLess(low, min(values))
            self.assertGreater(high, max(values))

    def test_a_linear_axis_begins_at_zero(self):
        for most in (0.03, 1, 3.1, 99, 100.5):
            low, high = charts.Axis("").domain([most])
            self.assertEqual(low, 0)
            self.assertGreaterEqual(high, most)

    def test_ticks_are_few_and_within_the_axis(self):
        for base, values in ((10, [3, 40]), (10, [0.2, 99_000]), (2, [2**k for k in range(3, 31)])):
            axis = charts.Axis("", base).encoded(values)
            low, high = axis["scale"]["domain"]
            ticks = axis["axis"]["values"]
            self.assertTrue(all(low <= tick <= high for tick in ticks), ticks)
            self.assertTrue(2 <= len(ticks) <= 8, ticks)

    def test_a_value_has_its_pixel(self):
        self.assertAlmostEqual(charts.Axis("", 2).pixel(4, [1, 16], 100), 50)
        self.assertAlmostEqual(charts.Axis("", limits=(0, 10)).pixel(4, [], 100), 40)

    def test_names_at_lines_do_not_overlap(self):
        low = charts.HEIGHT
        placed = charts.apart([{"at": at} for at in (low, low + 1, 10, low + 2)])
        places = [end["at"] for end in placed]
        self.assertTrue(all(b - a >= 15 for a, b in itertools.pairwise(places)), places)
        self.assertLessEqual(places[-1], low + 6)
        self.assertEqual(places[0], 10)

    def test_curves_that_coincide_are_drawn_as_one(self):
        heights = {"a": (100, 100), "b": (101, 100), "c": (100, 200), "d": (100, 100)}
        rows = [{"name": n, "x": x, "y": y} for n, ys in heights.items() for x, y in enumerate(ys)]
        for row in rows[-2:]:
            row["faint"] = True
        same = {row["name"]: row["same"] for row in charts.as_one(rows, charts.Axis(""))}
        self.assertEqual(same, {"a": "a", "b": "a", "c": "c", "d": "d"})
        layers, _ = charts.curves(charts.Axis(""), charts.Axis(""), rows, 300)
        points, labels = (layers[k]["data"]["values"] for k in (2, 4))
        self.assertEqual({row["name"] for row in points}, {"a", "c"})
        self.assertEqual({row["text"] for row in labels}, set("abcd"))
        self.assertEqual(len({row["color"] for row in labels if row["text"] in "ab"}), 1)

    def test_a_label_that_was_moved_is_led_to_its_curve(self):
        rows = [{"name": name, "x": x, "y": y} for name, y in (("a", 100), ("b", 95)) for x in (0, 1)]
        layers, _ = charts.curves(charts.Axis(""), charts.Axis(""), rows, 300)
        leaders = {row["text"]: row for row in layers[-1]["data"]["values"]}
        self.assertEqual({*leaders}, {"a", "b"})
        for name, y in (("a", 100), ("b", 95)):
            there = charts.HEIGHT - charts.Axis("").pixel(y, [100, 95], charts.HEIGHT)
            self.assertAlmostEqual(leaders[name]["true"], there)
        self.assertGreaterEqual(leaders["b"]["at"] - leaders["a"]["at"], 15)


class Digests(unittest.TestCase):
    def test_the_last_digits_do_not_count(self):
        def digest(value):
            return charts.Chart({"y": value}, "", "").digest()

        # sum([0.1] * 10) of Python 3.11, and of 3.12, which corrects what rounding loses
        self.assertEqual(digest(0.9999999999999999), digest(1.0))
        self.assertNotEqual(digest(1.0), digest(1.001))

    def test_words_count(self):
        self.assertNotEqual(charts.Chart({}, "a", "").digest(), charts.Chart({}, "b", "").digest())


class Descriptions(unittest.TestCase):
    def test_a_chart_has_what_it_does_not_say_from_another_one(self):
        first = {"rows": "ladder", "see": "a", "of": {"lab": "scan", "n": 1}}
        found = charts.described({"first": first, "next": {"like": "first", "see": "b", "of": {"n": 2}}})
        self.assertEqual(found["next"]["of"], {"lab": "scan", "n": 2})
        self.assertEqual((found["next"]["rows"], found["next"]["see"]), ("ladder", "b"))
        self.assertEqual(first["of"]["n"], 1)


@unittest.skipUnless(LABCLI, "no labcli")
class Charts(unittest.TestCase):
    NAMES = [name for name, chart in charts.CHARTS.items() if "simulated" not in chart]

    def test_colours_are_safe_or_have_a_dark_counterpart(self):
        for name in self.NAMES:
            text = json.dumps(charts.made(name, LABCLI).specification)
            self.assertEqual(
                set(re.findall(r"#[0-9a-f]{6}", text)) - {*charts.INKS, *charts.COLOURS}, set(), name
            )

    def test_curves_have_different_colours_and_marks(self):
        self.assertEqual(len(set(charts.COLOURS)), len(set(charts.SHAPES)))
        for name in self.NAMES:
            chart = charts.CHARTS[name]
            rows, _ = charts.ROWS[chart["rows"]](LABCLI, **chart["of"])
            of = charts.by_name([row for row in rows if "faint" not in row])
            if chart.get("form") != "dots":
                self.assertLessEqual(len(of), 5, name)
                looks = [points[0].get("look", k) for k, points in enumerate(of.values())]
                self.assertEqual(len(set(looks)), len(looks), name)
                self.assertLess(max(looks), len(charts.COLOURS), name)

    def test_no_rung_is_beyond_the_roof(self):
        page = (charts.HANDOUTS / "00-ideas-deeper.md").read_text(encoding="utf-8")
        shown = re.search(r"!\[([^]]*)\]\(figures/roofline.svg\)", page)[1]
        read = charts.measured.rate_of("reduction", "read") / 1e3
        points = re.findall(r"(\w+ \w+) ([\d.]+\d) at ([\d.]+\d)", shown)
        self.assertGreater(len(points), 5)
        self.assertEqual([name for name, y, x in points if float(y) > float(x) * read], [])

    def test_no_two_points_of_the_roofline_have_one_label(self):
        drawing = (charts.HANDOUTS / "figures/roofline.svg").read_text(encoding="utf-8")
        labels = re.findall(r'text-anchor="start"[^>]*>([a-z_ ]+)<', drawing)
        self.assertGreater(len(labels), 5)
        self.assertEqual(len(set(labels)), len(labels))

    def test_powers_are_set_as_powers(self):
        for name in self.NAMES:
            one = charts.made(name, LABCLI)
            self.assertNotRegex(one.alt + one.caption + json.dumps(one.specification), r"\d\^", name)

    def test_texts_say_what_was_drawn(self):
        for name in self.NAMES:
            one = charts.made(name, LABCLI)
            self.assertRegex(one.alt, r"\d.*\.$", name)
            self.assertRegex(one.caption, r"\.$", name)
            self.assertNotIn("]", one.alt, name)

    def test_a_ladder_has_its_rungs_from_the_bottom_to_the_top(self):
        names = [row["name"] for row in charts.ladder(LABCLI, "reduction")[0]]
        self.assertEqual((names[0], names[-1]), ("neighboured", "state_of_the_art"))

    def test_a_rate_follows_the_run(self):
        rows = charts.by_name(charts.rate(LABCLI, "scan")[0])
        self.assertEqual([*rows], ["top rung", "library", "memory"])
        self.assertNotIn("memory", charts.by_name(charts.rate(LABCLI, "radix_sort", memory=False)[0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
