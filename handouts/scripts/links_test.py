#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every relative link of every Markdown file in the repository: the file is there, and so is the
heading or anchor.

usage: links_test.py ROOT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1]).resolve()
LINK = re.compile(r"\]\(([^()\s]+)\)|<a href=\"([^\"]+)\"")


def texts(root):
    command = ["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, capture_output=True, text=True) if shutil.which("git") else None
    if listed and listed.returncode == 0 and listed.stdout:
        return [root / name for name in listed.stdout.splitlines() if (root / name).is_file()]
    own = [p for p in root.glob("*/**/*.md") if not p.relative_to(root).parts[0].startswith((".", "build"))]
    return own + list(root.glob("*.md"))  # a copy without its history


def prose(text):
    """Without code, in which brackets and parentheses are no links."""
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def anchors(text):
    """As the usual renderers make them: of headings, with -1, -2 … for those that come again, and written
    ones."""
    found = set(re.findall(r"<a id=\"([^\"]+)\"", text))
    for heading in re.findall(
        r"^#+ +(.*?)\s*$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S), re.M
    ):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = 0
        while anchor in found:
            count += 1
            anchor = f"{name}-{count}"
        found.add(anchor)
    return found


def broken(path, text, root):
    for link in (a or b for a, b in LINK.findall(prose(text))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if name and not (target.is_relative_to(root) and target.exists()):
            yield f"{path.relative_to(root)}: there is no {link}"
        elif anchor and (not name or target.is_file()):
            there = text if target == path else target.read_text(encoding="utf-8")
            if anchor not in anchors(there):
                yield f"{path.relative_to(root)}: {link} has no such place"


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        found = texts(ROOT)
        self.assertGreater(len(found), 5)
        self.assertEqual([b for p in found for b in broken(p, p.read_text(encoding="utf-8"), ROOT)], [])

    def test_a_wrong_one_is_found(self):
        page = ROOT / "handouts/page.md"
        for text in ["[a](nowhere.md)", "[a](#nowhere)", "[a](glossary.md#nowhere)", "[a](../../outside.md)"]:
            self.assertEqual(len(list(broken(page, text, ROOT))), 1, text)
        for text in [
            "`[a](nowhere.md)`",
            "[a](https://example.org/x)",
            "# A b, c\n[a](#a-b-c)",
            "# A\n# A\n[a](#a-1)",
        ]:
            self.assertEqual(list(broken(page, text, ROOT)), [], text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
