#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the course site and opens it: no broken link (the generator is strict), no request to anywhere,
readable on a phone and a desk, and a search that finds.

usage: site_test.py LABCLI FOLDER     FOLDER keeps the generator's Python environment; nothing else is left there.
       With SCREENSHOTS=FOLDER it also leaves pictures to look at.

Skipped where the generator's packages can't be had, and its browser part where there is no browser.
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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
LABCLI, KEEP = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(ROOT / "grader/page/browser")]
import chromium
import make_site
import pages

CHECKS = (ROOT / "grader/page/browser/checks.js").read_text(encoding="utf-8")


class Gathering(unittest.TestCase):
    def test_a_list_after_a_paragraph_becomes_one(self):
        self.assertEqual(make_site.adapted("text\n- a\n- b\n"), "text\n\n- a\n- b\n")
        self.assertEqual(make_site.adapted("```\ntext\n- a\n```\n"), "```\ntext\n- a\n```\n")

    def test_what_is_folded_is_markdown(self):
        self.assertEqual(
            make_site.adapted("<details><summary>a</summary>\n"),
            '<details markdown="1"><summary>a</summary>\n',
        )
        self.assertEqual(make_site.adapted("```\n<details>\n```\n"), "```\n<details>\n```\n")
        self.assertEqual(
            make_site.adapted('<a href="errata.md#erratum-8">8</a>\n'),
            '<a href="errata.html#erratum-8">8</a>\n',
        )

    def test_interfaces_come_from_comments(self):
        header = "// SPDX\n// What it is.\n#pragma once\n\n// Adds two\n// numbers.\nint add(int a,\n        int b);\n\nint quiet();\n"
        self.assertEqual(
            list(pages.blocks(header.split("#pragma once\n")[1])),
            [("Adds two numbers.", "int add(int a,\n        int b);")],
        )


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            make_site.environment(KEEP)
        except SystemExit as why:
            raise unittest.SkipTest(str(why)) from None
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name)
        (cls.top / "site-venv").symlink_to((KEEP / "site-venv").resolve())
        made = subprocess.run(
            [sys.executable, HERE / "make_site.py", LABCLI, cls.top], capture_output=True, text=True
        )
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_has_every_page_and_command(self):
        for name in [
            "index",
            "handouts/00-ideas",
            "handouts/07-hierarchical-scan",
            "handouts/instructor-guide",
            "reference/interfaces",
        ]:
            self.assertTrue((self.top / f"site/{name}.html").is_file(), name)
        commands = (self.top / "site-pages/reference/commands.md").read_text(encoding="utf-8")
        for name in ("grade", "trace", "profile", "bench"):
            self.assertIn(f"## ./lab {name}\n", commands)
        self.assertNotIn("labcli", commands)

    def test_shows_no_raw_markdown(self):
        text = (self.top / "site/handouts/01-reduction.html").read_text(encoding="utf-8")
        folded = re.findall(r"<details.*?</details>", text, re.S)
        self.assertGreater(len(folded), 4)
        self.assertEqual([f for f in folded if re.search(r"^(1\.|\|) ", f, re.M)], [])

    def test_loads_nothing_from_elsewhere(self):
        for page in (self.top / "site").rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            self.assertEqual(
                re.findall(
                    r"<(?:script|img|iframe)[^>]* src=\"?https?:[^>]*>|<link[^>]* rel=\"?stylesheet\"? [^>]*href=\"?https?:[^>]*>",
                    text,
                ),
                [],
                page,
            )

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
        with chromium.Browser() as browser:
            # 404 names its files from the site's root: it works on a server only.
            pages = [path for path in sorted((self.top / "site").rglob("*.html")) if path.name != "404.html"]
            self.assertGreater(len(pages), 20)
            for path in pages:
                for width, dark in [(360, True), (1440, False)]:
                    with self.subTest(page=path.name, width=width, dark=dark):
                        page = browser.open(path, width=width, dark=dark)
                        self.wait(page, "document.body.dataset.mdColorScheme && localStorage.length")
                        scheme = page.run("document.body.dataset.mdColorScheme")
                        page.run("localStorage.clear()")  # where the theme keeps the first visit's colours
                        self.assertEqual(scheme, "slate" if dark else "default")
                        for check in ("overflow", "contrast", "structure"):
                            self.assertEqual(page.run(f"({CHECKS}).{check}()"), [], check)
                        self.assertEqual(page.problems, [])
                        if folder := os.environ.get("SCREENSHOTS"):
                            page.screenshot(
                                f"{folder}/site-{path.parent.name}-{path.stem}-{width}{'-dark' if dark else ''}.png"
                            )
                        page.close()
            page = browser.open(self.top / "site/index.html")
            page.run("""(() => {
              const field = document.querySelector('.md-search__input');
              field.focus();
              field.value = 'Kogge';
              field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true, key: 'e' }));
            })()""")
            self.wait(page, "document.querySelectorAll('.md-search-result__item').length > 0")
            self.assertEqual(page.problems, [])

    @unittest.skipUnless(chromium.find(), "no chromium here; apt-get install chromium")
    def test_a_result_opens_after_a_guess(self):
        with chromium.Browser() as browser:
            page = browser.open(self.top / "site/handouts/01-reduction.html")
            self.wait(page, "document.querySelectorAll('form.guess').length >= 2")
            result = "document.querySelector('form.guess + details')"
            self.assertTrue(page.run(f"{result}.hidden"))
            page.run(
                """(() => {
              window.result = document.querySelector('form.guess + details');
              const form = document.querySelector('form.guess');
              form.querySelector('input').value = 'twice as fast';
              form.requestSubmit();
            })()"""
            )
            self.wait(page, "window.result.open && !window.result.hidden")
            self.assertIn("twice as fast", page.run("window.result.textContent"))
            page.run("localStorage.clear()")
            self.assertEqual(page.problems, [])

    def wait(self, page, condition):
        for _ in range(100):
            if page.run(condition):
                return
            time.sleep(0.1)
        self.fail(f"never became true: {condition}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
