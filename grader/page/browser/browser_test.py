#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens every kind of HTML report in a headless Chromium: no console error, nothing too wide on a phone or a
desk, texts that can be read in light and dark, names for screen readers, a slider that works by keyboard and
button, and all steps on paper.

usage: browser_test.py LABCLI [RACY]      with SCREENSHOTS=FOLDER also leaves pictures to look at
RACY: the runner of grader/mutants/scan/tid_guard or the like, LAB:TASK:RUNNER, whose trace ends with a
finding.

Without a browser everything is skipped: apt-get install chromium.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chromium

LABCLI = sys.argv[1] if len(sys.argv) > 1 else ""
RACY = sys.argv[2] if len(sys.argv) > 2 else ""
CHECKS = (pathlib.Path(__file__).resolve().parent / "checks.js").read_text(encoding="utf-8")
REPORTS = {
    "grade": "grade scan reduction --solutions --device sim --task kogge_stone --html",
    "grade-empty": "grade scan reduction --device sim --html",
    "trace": "trace scan blelloch --solutions --html",
    "trace-lanes": "trace reduction shuffle --n 64 --solutions --html",
    "trace-grid": "trace sat serial --solutions --html",
    "trace-states": "trace hierarchical_scan look_back --n 6000 --columns 8 --solutions --html",
}
if RACY:
    lab, task, runner = RACY.split(":", 2)
    REPORTS["trace-race"] = f"trace {lab} {task} --runner {runner} --html"
# What a message, a title or a path can hold at worst.
HOSTILE = "</title><script>console.error('ran')</script><b onclick=x> & \"quoted\" " + "long_word_" * 12
# Made by hand: the checks must see what is wrong.
FAULTY = """<!doctype html><html><body><h1>a</h1><h1>b</h1><h4>skips</h4><main><p style="color: #999; width: 800px">pale and wide</p><p>2^28, 2^(d+1) and e_{b+1}, but <code>2^28</code></p>
<button></button><img src="data:,"><a href="#nowhere">x</a><p id="twice"></p><p id="twice"></p>
<svg width="90" height="30"><rect width="90" height="30" fill="#222"/>
<text y="20" fill="#333" font-size="9">dark</text></svg>
<svg width="90" height="30"><text y="20">over</text><text x="9" y="18">each other</text><text x="80" y="20">cut</text></svg>
<p style="width: 3em; overflow: hidden; white-space: nowrap">Longer than its box</p><p hidden style="display: block">hidden</p>
<div><div class="player"><input type="range" min="1" max="2" oninput="this.style.marginTop = 9 * this.value + 'px'"></div></div></main>
<script>console.error('loud'); undefined_function();</script></body></html>"""


@unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = chromium.Browser()
        cls.shots = os.environ.get("SCREENSHOTS")

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def failing(self, path):
        """A class's worst: every verdict, lost points, names full of markup."""
        folder = pathlib.Path(self.folder.name)
        command = "grade scan --solutions --device sim --task kogge_stone --json"
        subprocess.run([LABCLI, *command.split(), folder / "ok.json"], capture_output=True, check=True)
        result = json.loads((folder / "ok.json").read_text(encoding="utf-8"))
        lab = result["labs"][0]
        task = lab["tasks"][0]
        lab["tasks"] = []
        verdicts = "OK WRONG_ANSWER TIME_LIMIT MEMORY_LIMIT CRASH COMPILE_ERROR"
        verdicts += " POLICY SUSPECT INFRA NOT_IMPLEMENTED"
        for verdict in verdicts.split():
            one = json.loads(json.dumps(task)) | {
                "verdict": verdict,
                "title": f"{verdict.title()} {HOSTILE}"[:60],
                "message": f"{HOSTILE}\n  line 2: {HOSTILE}\n",
            }
            lab["tasks"].append(one)
        for total in ("points", "max_points"):
            lab[total] = sum(one[total] for one in lab["tasks"])
        (folder / "failing.json").write_text(json.dumps(result), encoding="utf-8")
        subprocess.run(
            [LABCLI, "report", folder / "failing.json", "--html", path], capture_output=True, check=True
        )

    def report(self, name):
        path = pathlib.Path(self.folder.name) / f"{name}.html"
        if name == "grade-failing" and not path.exists():
            self.failing(path)
        if not path.exists():
            done = subprocess.run([LABCLI, *REPORTS[name].split(), path], capture_output=True, text=True)
            self.assertTrue(path.exists(), f"{REPORTS[name]}:\n{done.stdout}{done.stderr}")
        return path

    def ask(self, page, check):
        return page.run(f"({CHECKS}).{check}()")

    def test_reports_are_readable_everywhere(self):
        for name in [*REPORTS, "grade-failing"]:
            for dark in (False, True):
                page = self.browser.open(self.report(name), dark=dark)
                page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                for width in (360, 768, 1440):
                    with self.subTest(report=name, width=width, dark=dark):
                        page.look(width, dark=dark)
                        checks = ["overflow", "contrast", "structure", "drawings", "cut", "formulas"]
                        checks += ["letters", *["players"] * (dark == (width == 768))]
                        for check in checks:
                            self.assertEqual(self.ask(page, check), [], check)
                        if self.shots:
                            page.screenshot(f"{self.shots}/{name}-{width}{'-dark' if dark else ''}.png")
                        self.assertEqual(page.problems, [])
                page.close()

    def test_a_table_of_points_fits_on_a_telephone(self):
        wide = "[...document.querySelectorAll('.wide:has(tfoot)')].filter((e) => e.scrollWidth > e.clientWidth).length"
        for name in ("grade", "grade-empty", "grade-failing"):
            page = self.browser.open(self.report(name), width=360)
            self.assertEqual(page.run(wide), 0, name)
            page.close()

    def test_the_slider_works_by_key_and_button(self):
        page = self.browser.open(self.report("trace"))
        said = "document.querySelector('.player output').textContent"
        shown = "[...document.querySelectorAll('.step')].filter((s) => s.checkVisibility({visibilityProperty: true})).map((s) => s.id).join()"
        n = page.run("document.querySelectorAll('.step').length")
        self.assertGreater(n, 5)
        page.run("document.querySelector('.player input').focus()")
        page.press("Home")
        self.assertEqual((page.run(said), page.run(shown)), (f"Step 1 of {n}", "step-1"))
        page.press("ArrowRight")
        page.press("ArrowRight")
        self.assertEqual((page.run(said), page.run(shown)), (f"Step 3 of {n}", "step-3"))
        page.press("End")
        self.assertEqual(page.run(shown), f"step-{n}")
        self.assertTrue(page.run("document.querySelector('[data-go=next]').disabled"))
        page.run("document.querySelector('[data-go=back]').click()")
        self.assertEqual(page.run(shown), f"step-{n - 1}")
        page.run("document.activeElement.blur()")  # the keys work on the page itself, too
        page.press("Home")
        self.assertEqual(page.run(shown), "step-1")
        page.press("ArrowRight")
        self.assertEqual(page.run(shown), "step-2")
        self.assertIn(
            "of", page.run("document.querySelector('.player input').getAttribute('aria-valuetext')")
        )
        page.run("document.querySelector('[data-go=play]').click()")
        self.assertEqual(page.run("document.querySelector('[data-go=play]').textContent"), "Pause")
        page.run("document.querySelector('[data-go=play]').click()")
        page.look(1000, media="print")
        self.assertEqual(page.run(shown).count("step-"), n)
        self.assertEqual(page.problems, [])
        page.close()

    def test_a_step_can_be_linked_to(self):
        page = self.browser.open(self.report("trace").as_uri() + "#step-4")
        self.assertIn("Step 4 of", page.run("document.querySelector('.player output').textContent"))
        page.close()

    def test_the_checks_see_what_is_wrong(self):
        path = pathlib.Path(self.folder.name) / "faulty.html"
        path.write_text(FAULTY, encoding="utf-8")
        page = self.browser.open(path, width=360)
        self.assertEqual(len(self.ask(page, "overflow")), 1)
        self.assertEqual(len(self.ask(page, "contrast")), 2)
        self.assertEqual(len(self.ask(page, "drawings")), 2)
        self.assertEqual(len(self.ask(page, "cut")), 2)
        self.assertEqual(len(self.ask(page, "formulas")), 3)
        self.assertEqual(len(self.ask(page, "letters")), 1)
        self.assertEqual(sum("heights" in one for one in self.ask(page, "players")), 1)
        complaints = " ".join(self.ask(page, "structure"))
        for part in "language|title|2 first-level|button|alternative|#nowhere|#twice|skips".split("|"):
            self.assertIn(part, complaints)
        self.assertEqual(len(page.problems), 2)
        page.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
