#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the course site and opens it: no broken link (the generator is strict), no request to anywhere,
readable on a phone, a tablet and a desk, no text cut or over another, players that keep their height, nothing
serious or critical for axe-core, and a search that finds.

usage: site_test.py LABCLI FOLDER     FOLDER keeps the generator's Python environment; nothing else is left there.
       With SCREENSHOTS=FOLDER it also leaves pictures.

Skipped where the generator's packages can't be had, its browser part where there is no browser, and axe-core
where its package can't be had.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
LABCLI, KEEP = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(ROOT / "grader/page/browser")]
import chromium
import make_site
import packages
import players

CHECKS = (ROOT / "grader/page/browser/checks.js").read_text(encoding="utf-8")


AXE_RUN = """axe.run(document, {preload: false, resultTypes: ['violations']}).then((found) => found.violations
  .filter(({impact}) => impact === 'serious' || impact === 'critical')
  .map(({id, nodes}) => `${id}: ${nodes[0].target} (${nodes.length} times)`))"""


def axe_core():
    """The script of axe-core, or "" where its package can't be had."""
    try:
        wanted = HERE / "requirements-axe.txt"
        packages.environment(KEEP / "axe-venv", wanted, "the checks of accessibility", "--no-deps")
    except SystemExit:
        return ""
    found = (KEEP / "axe-venv").glob("lib/python3*/site-packages/axe_playwright_python/axe.min.js")
    return next(found).read_text(encoding="utf-8")


class Gathering(unittest.TestCase):
    def test_a_list_after_a_paragraph_becomes_one(self):
        self.assertEqual(make_site.adapted("text\n- a\n- b\n"), "text\n\n- a\n- b\n")
        self.assertEqual(make_site.adapted("```\ntext\n- a\n```\n"), "```\ntext\n- a\n```\n")

    def test_built_pages_are_no_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            for name in ("grader", "build/site-pages/grader", "other-build/x"):
                (top / name).mkdir(parents=True)
                (top / name / "README.md").touch()
            for build in ("build", "other-build"):
                (top / build / "meson-private").mkdir()
            with unittest.mock.patch.object(make_site, "ROOT", top):
                gatherer = make_site.Gatherer(top / "pages", instructor=True)
                gatherer.add_all("**/README.md")
            self.assertEqual(gatherer.done, {"grader/README.md"})

    def test_a_bar_in_the_code_of_a_table_is_a_bar(self):
        self.assertEqual(make_site.adapted("| `1 \\| 2` \\| 3 |\n"), "| `1 | 2` \\| 3 |\n")

    def test_students_get_no_link_to_what_is_for_instructors(self):
        with tempfile.TemporaryDirectory() as folder:
            linking = make_site.ROOT / "handouts/site_front.md"
            for instructor in (False, True):
                gatherer = make_site.Gatherer(pathlib.Path(folder), instructor)
                text = gatherer.linked(linking, make_site.ROOT)
                self.assertIn("[lab 1](handouts/01-reduction.md)", text)
                self.assertEqual("[the checklist](handouts/instructor/checklist.md)" in text, instructor)
                self.assertEqual("handouts/instructor/checklist.md" in gatherer.done, instructor)

    def test_marks_of_quotations_are_left_out(self):
        marked = "<!-- quote: lines a/b /c/ /d/ -->\na\n<!-- end quote -->\n"
        self.assertEqual(make_site.without_marks(marked), "a\n")

    def test_what_is_folded_is_markdown(self):
        self.assertEqual(
            make_site.adapted("<details><summary>a</summary>\n"),
            '<details markdown="1"><summary markdown="span">a</summary>\n',
        )
        self.assertEqual(make_site.adapted("```\n<details>\n```\n"), "```\n<details>\n```\n")
        self.assertEqual(
            make_site.adapted('<a href="errata.md#erratum-8">8</a>\n'),
            '<a href="errata.html#erratum-8">8</a>\n',
        )


def wait(page, condition):
    for _ in range(100):
        if page.run(condition):
            return
        time.sleep(0.1)
    raise AssertionError(f"never became true: {condition}")


def folder_for_site():
    """An empty folder in which a site can be built."""
    try:
        make_site.environment(KEEP)
    except SystemExit as why:
        raise unittest.SkipTest(str(why)) from None
    folder = tempfile.TemporaryDirectory()
    (pathlib.Path(folder.name) / "site-venv").symlink_to((KEEP / "site-venv").resolve())
    return folder


PREDICTION = """# A page

<details class="prediction" data-answer="11" data-unit="barriers a row"><summary>Predict: how many `barriers`?</summary>

There are **eleven**.

</details>

<details><summary>More</summary>

Words.

</details>
"""


@unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
class Predictions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = folder_for_site()
        top = pathlib.Path(cls.folder.name)
        (top / "pages").mkdir()
        (top / "pages/index.md").write_text(make_site.adapted(PREDICTION), encoding="utf-8")
        make_site.make_pages(top / "site", top / "pages", players.Players(LABCLI, with_source=False))
        cls.page = top / "site/index.html"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_result_is_invisible_until_a_guess_is_given(self):
        height = (
            "[...document.querySelectorAll('article details')].map((d) => d.getBoundingClientRect().height)"
        )
        with chromium.Browser() as browser:
            page = browser.open(self.page)
            wait(page, "document.querySelector('form.guess')")
            self.assertEqual(page.run("document.querySelectorAll('form.guess').length"), 1)
            self.assertEqual(page.run("document.querySelector('form.guess code').textContent"), "barriers")
            asked, number, button = page.run(
                "['label span', 'input', 'button'].map((one) => document.querySelector(`form.guess ${one}`)"
                ".getBoundingClientRect()).map(({top, bottom}) => [top, bottom])"
            )
            self.assertGreaterEqual(number[0], asked[1])
            self.assertLess(button[0], number[1])  # in one line
            before = page.run(height)
            self.assertEqual(before[0], 0)
            self.assertGreater(before[1], 0)  # an ordinary fold
            page.run("document.querySelector('form.guess button').click()")  # without a number
            self.assertEqual(page.run(height), before)
            page.run("document.querySelector('form.guess input').focus()")
            for key in ("1", "4", "Enter"):
                page.press(key)
            wait(page, "document.querySelector('details.prediction').open")
            self.assertGreater(page.run(height)[0], 60)
            said = page.run("document.querySelector('details.prediction p.guess').innerText")
            for part in ("14 barriers a row", "11", "3 too high", "27 %"):
                self.assertIn(part, said)
            self.assertTrue(page.run("document.querySelector('details strong').checkVisibility()"))
            again = browser.open(self.page)  # the guess is remembered
            wait(again, "document.querySelector('details.prediction').open")
            self.assertEqual(again.run("document.querySelectorAll('form.guess').length"), 0)
            self.assertEqual(page.problems + again.problems, [])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = folder_for_site()
        cls.top = pathlib.Path(cls.folder.name)
        made = subprocess.run(
            [sys.executable, HERE / "make_site.py", LABCLI, cls.top], capture_output=True, text=True
        )
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_has_every_page_and_command(self):
        for name in ["index", "handouts/00-ideas", "handouts/07-hierarchical-scan"]:
            self.assertTrue((self.top / f"site/{name}.html").is_file(), name)
        commands = (self.top / "site-pages/reference/commands.md").read_text(encoding="utf-8")
        for name in ("grade", "trace", "profile", "bench"):
            self.assertIn(f"## ./lab {name}\n", commands)
        self.assertNotIn("labcli", commands)

    def test_the_menu_is_short_and_leads_everywhere(self):
        menu = (self.top / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:\n")[2]
        reached = re.findall(r"^ +- (?:Start: )?(.*\.md)$", menu, re.M)
        self.assertLessEqual(len(reached), 30)
        self.assertIn("handouts/08-multi-gpu.md", reached)
        pages = self.top / "site-pages"
        for name in reached:  # grows
            text = (pages / name).read_text(encoding="utf-8")
            for there in re.findall(r"\]\(([^()\s#:]+\.md)", text):
                found = os.path.relpath((pages / name).parent / there, pages)
                if found not in reached:
                    reached.append(found)
        self.assertEqual(
            sorted(reached), sorted(str(path.relative_to(pages)) for path in pages.rglob("*.md"))
        )

    def test_students_see_no_answers(self):
        made = {"index.md", "reference/commands.md"}
        pages = self.top / "site-pages"
        for name in {str(path.relative_to(pages)) for path in pages.rglob("*.md")} - made:
            of_edition = map(make_site.edition.is_released, (name, name.removesuffix(".md")))
            self.assertTrue(any(of_edition), name)
        for page in self.top.rglob("site/**/*.html"):
            self.assertNotIn('class="source"', page.read_text(encoding="utf-8"), page)
        index = json.loads((self.top / "site/search/search_index.json").read_text(encoding="utf-8"))
        self.assertEqual([entry for entry in index["docs"] if "nstructor" in entry["location"]], [])

    def test_the_instructors_site_has_the_instructors_pages(self):
        with folder_for_site() as folder:
            command = [sys.executable, HERE / "make_site.py", LABCLI, folder, "--instructor"]
            made = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stderr)
            site = pathlib.Path(folder) / "site-instructor"
            for name in ("handouts/instructor/guide", "handouts/instructor/01-reduction", "CONTRIBUTING"):
                self.assertTrue((site / f"{name}.html").is_file(), name)
            lab = (site / "handouts/01-reduction.html").read_text(encoding="utf-8")
            self.assertIn('class="source"', lab)
            self.assertIn("Instructors", lab)

    def test_figures_with_steps_have_players(self):
        pages = {path.stem: path.read_text("utf-8") for path in (self.top / "site/handouts").glob("*.html")}
        traces = players.figures.TRACES
        text = "".join(pages.values())
        self.assertEqual([name for name in traces if f'id="{name}-step-1"' not in text], [])
        self.assertIn('data-title="tile 0: prefix available"', pages["07-hierarchical-scan"])
        self.assertNotIn('class="stepper"', pages["glossary"])

    def test_the_first_page_shows_verdict_trace_and_chart(self):
        text = (self.top / "site/index.html").read_text(encoding="utf-8")
        for part in ("WRONG_ANSWER", "race: thread", "stepper", "ladder-reduction.svg"):
            self.assertIn(part, text)
        self.assertIn("./lab grade", re.sub(r"<[^>]*>", "", text))

    def test_shows_no_raw_markdown(self):
        text = (self.top / "site/handouts/01-reduction.html").read_text(encoding="utf-8")
        folded = re.findall(r"<details.*?</details>", text, re.S)
        self.assertGreater(len(folded), 4)
        self.assertEqual([f for f in folded if re.search(r"^(1\.|\|) ", f, re.M)], [])

    def test_loads_nothing_from_elsewhere(self):
        for page in (self.top / "site").rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            sources = r"<(?:script|img|iframe)[^>]* src=\"?https?:[^>]*>"
            sheets = r"<link[^>]* rel=\"?stylesheet\"? [^>]*href=\"?https?:[^>]*>"
            self.assertEqual(re.findall(f"{sources}|{sheets}", text), [], page)

    def test_search_has_a_section_for_each_term(self):
        text = (self.top / "site/search/search_index.json").read_text(encoding="utf-8")
        found = {entry["location"]: entry for entry in json.loads(text)["docs"]}
        page = (self.top / "site/handouts/glossary.html").read_text(encoding="utf-8")
        row = found["handouts/glossary.html#reduction"]
        self.assertIn("归约", row["title"])
        self.assertIn("リダクション", row["text"].split())
        terms = [place.partition("#")[2] for place in found if place.startswith("handouts/glossary.html#")]
        self.assertGreater(len(terms), 100)
        self.assertEqual(
            [term for term in terms if f'id="{term}"' not in page and f"id={term}" not in page], []
        )

    @unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
    def test_is_readable_and_finds(self):
        axe = axe_core()
        with chromium.Browser() as browser:
            pages = sorted((self.top / "site").rglob("*.html"))
            self.assertGreater(len(pages), 20)
            for k, path in enumerate(pages):
                for dark in (False, True):
                    page = browser.open(path, dark=dark)
                    wait(page, "document.body.dataset.mdColorScheme && localStorage.length")
                    scheme = page.run("document.body.dataset.mdColorScheme")
                    page.run("localStorage.clear()")  # where the theme keeps the first visit's colours
                    self.assertEqual(scheme, "slate" if dark else "default")
                    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                    for width in (1440, 768, 360):
                        # What depends on colours at one width of each; what moves in one of the two.
                        checks = ["overflow", "drawings", "cut", "formulas", "letters"]
                        checks += ["contrast", "structure"] * (width == (360 if dark else 1440))
                        checks += ["players"] * (dark == (width == 768))
                        page.look(width, dark=dark)
                        page.run("Promise.allSettled(document.getAnimations().map((a) => a.finished))")
                        for check in checks:
                            with self.subTest(page=path.name, width=width, dark=dark, check=check):
                                self.assertEqual(page.run(f"({CHECKS}).{check}()"), [])
                        if folder := os.environ.get("SCREENSHOTS"):
                            name = f"site-{path.parent.name}-{path.stem}-{width}{'-dark' * dark}"
                            page.screenshot(f"{folder}/{name}.png")
                    with self.subTest(page=path.name, dark=dark):
                        if axe and k % 2 == dark:  # which takes long
                            page.run(f"{axe}; 0")
                            self.assertEqual(page.run(AXE_RUN), [])
                        self.assertEqual(page.problems, [])
                    page.close()
            drawings = [ROOT / "handouts/instructor/class.svg", *(self.top / "site").rglob("*.svg")]
            for path in drawings:  # of a trace, telephones get a player
                page = browser.open(path, width=1440 if path.stem in players.figures.TRACES else 328)
                with self.subTest(picture=path.name):
                    for check in ("drawings()", "formulas()", "letters()"):
                        self.assertEqual(page.run(f"({CHECKS}).{check}"), [], check)
                page.close()
            page = browser.open(self.top / "site/index.html")
            page.run("""(() => {
              const field = document.querySelector('.md-search__input');
              field.focus();
              field.value = 'Kogge';
              field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true, key: 'e' }));
            })()""")
            wait(page, "document.querySelectorAll('.md-search-result__item').length > 0")
            self.assertEqual(page.problems, [])

    @unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
    def test_traces_are_played(self):
        with chromium.Browser() as browser:
            page = browser.open(self.top / "site/handouts/02-scan.html")
            wait(page, "document.querySelectorAll('.stepper .player').length > 3")
            said = "[...document.querySelectorAll('.player output')].map((o) => o.textContent)"
            shown = "document.querySelector('.stepper').querySelectorAll('.step:not(.off)').length"
            before = page.run(said)
            page.run("document.querySelector('.player [data-go=next]').click()")
            page.run("document.querySelector('.player [data-go=next]').focus()")
            page.press("ArrowRight")
            after = page.run(said)
            self.assertNotEqual(after[0], before[0])
            self.assertEqual(after[1:], before[1:])
            self.assertEqual(page.run(shown), 1)
            self.assertFalse(page.run("document.querySelector('.stepper .still').checkVisibility()"))
            page.press("Home")
            page.run("document.querySelector('.player [data-go=play]').click()")
            wait(page, "document.querySelector('.player output').textContent.includes('Step 2 of')")
            page.look(1000, media="print")
            self.assertTrue(page.run("document.querySelector('.stepper .still').checkVisibility()"))
            self.assertEqual(page.problems, [])

    @unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
    def test_the_first_page_has_no_gap_beside_its_player(self):
        with chromium.Browser() as browser:
            page = browser.open(self.top / "site/index.html", still=True)
            verdict, player, chart, others = page.run(
                "[...document.querySelectorAll('.front > div')].map((div) => ["
                "div.firstElementChild, div.lastElementChild].map((one) => one.getBoundingClientRect()))"
                ".map(([first, last]) => [first.left, first.top, last.bottom])"
            )
            self.assertEqual([verdict[1], verdict[0]], [player[1], chart[0]])
            self.assertLess(chart[1] - verdict[2], 60)
            self.assertGreaterEqual(others[1], max(player[2], chart[2]))

    @unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
    def test_the_first_page_plays_by_itself_until_it_is_touched(self):
        said = "document.querySelector('.player output').textContent"
        button = "document.querySelector('[data-go=play]').textContent"
        with chromium.Browser() as browser:
            still = browser.open(self.top / "site/index.html", still=True)
            self.assertEqual(still.run(button), "Play")
            page = browser.open(self.top / "site/index.html")
            self.assertEqual(page.run(button), "Pause")
            before = page.run(said)
            wait(page, f"{said} !== {json.dumps(before)}")
            page.run("document.querySelector('.steps').dispatchEvent(new Event('pointerdown'))")
            self.assertEqual(page.run(button), "Play")
            self.assertEqual(page.problems + still.problems, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
