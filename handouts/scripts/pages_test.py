#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A page is short enough to be read, shows a picture and code early, and answers no prediction before it asks.

usage: pages_test.py HANDOUTS

A prediction is a box, <details class="prediction" data-answer="11" data-unit="barriers a row">. Its answer stands,
with its unit, on no page that is read before the box: README.md, 00-*.md, the earlier labs' pages, and its own page
above it. What is folded is not read.
"""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
ROOT = HANDOUTS.parent
sys.path.insert(0, str(ROOT / "common/tools"))
import hint

DEEPER = "-deeper"
IDEAS = HANDOUTS / "00-ideas.md"
READ = [
    page for page in sorted(HANDOUTS.glob("0[0-9]-*.md")) if not page.stem.endswith(DEEPER)
]  # in this order
LABS = [page for page in READ if not page.stem.startswith("00-")]


def words(text):
    """As `wc -w` counts them."""
    return len(text.encode().split())


def prose(text):
    """Without code, tables, headings, pictures, comments and tags."""
    text = re.sub(r"^ *```.*?^ *```|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.M | re.S)
    text = re.sub(r"^ *\|.*$|^#+ .*$|<[a-z/][^<>]*>", "", text, flags=re.M)
    return re.sub(r"\]\([^()\s]*\)", "]", text)


def words_of_prose(text):
    return words(prose(text))


# Pages, how they are counted, and how many words they may have at most.
LIMITS = [
    (sorted(HANDOUTS.glob("00-first-steps.md")), words_of_prose, 500),
    ([IDEAS], words, 1_200),
    (LABS, words_of_prose, 1_500),
    (sorted(HANDOUTS.glob(f"0*{DEEPER}.md")), words_of_prose, 3_500),
]
ALL = 70_000  # by `wc -w`, of all handouts but the instructor's
BEFORE_PICTURE = 150


def words_before_picture(text):
    """Before the first figure, or the first trace of a run."""
    before = re.split(r"!\[|<!-- quote: output trace", text, maxsplit=1)[0]
    return words(re.sub(r"<!--.*?-->", "", before, flags=re.S))


def without_folds(text):
    """What a reader sees without unfolding anything."""
    out, depth, end = [], 0, 0
    for tag in re.finditer(r"<(/?)details\b[^>]*>", text):
        if depth == 0:
            out.append(text[end : tag.start()])
        depth += -1 if tag[1] else 1
        end = tag.end()
    return re.sub(r"<!--.*?-->", "", "".join(out) + text[end:], flags=re.S)


def without_code(tasks):
    """The tasks, {name: (title, section)}, that show no code."""
    return [
        name
        for name, (_, section) in tasks.items()
        if hint.effort(section) and not re.search(r"^ *```(cuda|cpp)\n", without_folds(section), re.M)
    ]


# --- Predictions.

BOX = re.compile(
    r'<details class="prediction" data-answer="(\d+(?:\.\d+)?)" data-unit="([^"]+)">'
    r"<summary>Predict: .+?</summary>\n\n(.+?)\n\n</details>",
    re.S,
)
AMOUNTS = {"hundred", "thousand", "million", "billion"}
# Words with many numbers: these are the same quantity only if what they are counted by stands in the sentence, too.
COMMON = {"byte", "item"}


def number(answer):
    """A pattern of the number, with or without separators of thousands: 32, but not 1.32, 32.5, 32-byte or 2^32."""
    whole, _, part = answer.partition(".")
    grouped = f"{int(whole):,}"
    digits = f"(?:{whole}|{grouped})" + (rf"\.{part}" if part else "")
    return rf"(?<![\w.,^−-]){digits}(?![\w-]|[.,]\d)"


def stems(unit):
    """“barriers a row”: barrier and row. Of “million items”: item, and nothing that it is counted by."""
    what, _, by = re.sub(r" (?:a|an|per) ", "/", unit).partition("/")
    first = next(word for word in what.split() if word not in AMOUNTS)
    return [re.escape(re.sub(r"s$|(?<=ch|ss)es$", "", word)) for word in (first, by)]


def shown_texts(page_text, folder):
    """The sentences, cells and labels of figures that a reader sees, each as (text, heads of its row and column)."""
    text = without_folds(page_text)
    for name in re.findall(r"!\[[^\]]*\]\(([^)]*\.svg)\)", text):
        svg = folder / name
        labels = re.findall(r"<text[^>]*>(.*?)</text>", svg.read_text("utf-8"), re.S) if svg.is_file() else []
        yield from ((re.sub(r"<[^>]*>", "", label), "") for label in labels)
    head = []
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            cells = [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
            head = head or cells
            yield from ((cell, f"{cells[0]}\n{above}") for cell, above in zip(cells, head))
        else:
            head = []
    whole = re.sub(r"^ *\|.*$", "", text, flags=re.M)
    for block in re.split(r"\n{2,}|^ *```.*$", whole, flags=re.M):
        yield from (
            (sentence, "") for sentence in re.split(r"(?<=[.?!:]) (?=[^a-z0-9])", " ".join(block.split()))
        )


def gives_away(answer, unit, texts):
    """The texts in which the number stands with its unit. A digit alone is no answer: it stands everywhere."""
    if re.fullmatch(r"\d", answer):
        return []
    value, (stem, by) = number(answer), stems(unit)
    by = by if stem in COMMON else ""
    large = float(answer) >= 10_000 and int(float(answer)) & (int(float(answer)) - 1) != 0  # no other meaning
    # “11 barriers”, “11 more barriers”, “barriers: 11”, and the profile's “steps   18 deep”.
    near = re.compile(
        rf"{value}(?: [^\d\s.;:|]+)? ?{stem}|\b{stem}\w*(?: [^\d\s]+)?[:=]? {value}(?=[.,;)]|$| deep| moved)",
        re.I,
    )
    return [
        text
        for text, heads in texts
        if (near.search(text) and re.search(by, text, re.I))
        or (large and re.search(value, text))
        or (
            re.fullmatch(value, text)
            and re.search(rf"^{stem}\w*(?: (?:a|an|per|of) .*|,.*)?$|\n.*\b{stem}", heads, re.I | re.M)
        )
    ]


def faults_of_boxes(name, text, folder, before):
    """What is wrong with the boxes of a page, which is read after the texts `before`."""
    boxes = list(BOX.finditer(text))
    if len(boxes) != text.count('class="prediction"'):
        yield f"{name}: a prediction's box has another form than the one in pages_test.py"
    for box in boxes:
        answer, unit, said = box.groups()
        if not re.search(number(answer), said):
            yield f"{name}: the box with the answer {answer} doesn't contain it"
        for given in gives_away(answer, unit, [*before, *shown_texts(text[: box.start()], folder)]):
            yield f"{name}: {answer} {unit} is given away before it is asked: {given[:100]}"


def all_faults():
    before = list(shown_texts((ROOT / "README.md").read_text("utf-8"), ROOT))
    for page in READ:
        text = page.read_text("utf-8")
        yield from faults_of_boxes(page.name, text, HANDOUTS, before)
        before += shown_texts(text, HANDOUTS)
        deeper = page.with_stem(page.stem + DEEPER)  # read after its lab's page, if at all
        if deeper.is_file():
            yield from faults_of_boxes(deeper.name, deeper.read_text("utf-8"), HANDOUTS, before)


# --- Results, which a reader should predict first: counts, and times that were measured or modelled. The tables with
# the heads of HELP help to predict.

RESULT = re.compile(
    r"<!-- quote: (?:rows|chart (?:ladder-|contention|shared-atomics|divergence))|\|.*\d [µm]s\b"
)
HELP = ("| quantity | computed from |", "| bytes of the array |", "| | first pass |", "| collective |")


def open_results(text):
    """The results that are not folded."""
    depth, table = 0, ""
    for line in text.splitlines():
        table = (table or line) if line.startswith("|") else ""
        if depth == 0 and RESULT.match(line) and not table.startswith(HELP):
            yield line
        depth += line.count("<details") - line.count("</details>")


class Pages(unittest.TestCase):
    def test_are_short(self):
        for pages, count, limit in LIMITS:
            for page in pages:
                with self.subTest(page.name):
                    self.assertLessEqual(count(page.read_text("utf-8")), limit)

    def test_are_short_together(self):
        pages = [p for p in HANDOUTS.rglob("*.md") if "instructor" not in p.relative_to(HANDOUTS).parts]
        self.assertLessEqual(sum(words(p.read_text("utf-8")) for p in pages), ALL)

    def test_begin_with_a_picture(self):
        for page in [IDEAS, *LABS]:
            with self.subTest(page.name):
                self.assertLessEqual(words_before_picture(page.read_text("utf-8")), BEFORE_PICTURE)

    def test_tasks_show_code(self):
        for page in LABS:
            with self.subTest(page.name):
                self.assertEqual(without_code(hint.tasks_of(page.read_text("utf-8"))), [])

    def test_no_answer_comes_before_its_question(self):
        found = list(all_faults())
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_results_are_folded(self):
        for page in sorted(HANDOUTS.glob("0[0-9]-*.md")):
            with self.subTest(page.name):
                self.assertEqual(list(open_results(page.read_text("utf-8"))), [])

    def test_text_after_a_fold_is_markdown(self):
        """HTML reaches up to the next blank line, so a text directly after it would not be formatted."""
        for page in sorted(HANDOUTS.rglob("*.md")):
            found = re.findall(r"^</details>\n(?=[^\s<`])(.*)$", page.read_text("utf-8"), re.M)
            self.assertEqual(found, [], page.name)

    def test_powers_and_indices_are_set(self):
        for page in sorted(HANDOUTS.rglob("*.md")):
            text = re.sub(r"^```.*?^```|<!--.*?-->", "", page.read_text("utf-8"), flags=re.S | re.M)
            with self.subTest(page.name):
                self.assertEqual(re.findall(r"\w+\^\(?\w+|\w_\{[^}]*\}", text), [])

    def test_each_erratum_says_where_it_is_from(self):
        text = (HANDOUTS / "errata.md").read_text("utf-8")
        errata = re.findall(r"^## \d+\. .*\n\n(.*(?:\n.+)*)", text, re.M)
        self.assertGreaterEqual(len(errata), 25)
        for paragraph in errata:
            self.assertRegex(
                paragraph, r"(?s)\A\*Source: .*(Recorded: |Reported by a reader of the\ssource: |P\. Cozzi, )"
            )


class Faults(unittest.TestCase):
    """Planted faults are found, and what looks like one is not."""

    def box(self, answer="11", unit="barriers a row", said="11: one per round."):
        return (
            f'<details class="prediction" data-answer="{answer}" data-unit="{unit}"><summary>Predict: how many?'
            f"</summary>\n\n{said}\n\n</details>\n"
        )

    def faults(self, text, before=""):
        return list(faults_of_boxes("page", text, HANDOUTS, list(shown_texts(before, HANDOUTS))))

    def test_words(self):
        text = "# A heading\n\nTwo <b>words</b>.\n\n| no | table |\n\n```\nno code\n```\n<!-- none -->![none](a.svg)\n"
        self.assertEqual(words_of_prose(text), 2)
        self.assertEqual(words("a  b\nc|d"), 3)
        self.assertEqual(words_before_picture("one <!-- not this --> two\n![three](a.svg) ![four](b.svg)"), 2)
        self.assertEqual(words_before_picture("one\n<!-- quote: output trace scan blelloch -->\n"), 1)

    def test_answers_that_are_given_away(self):
        for shown in [
            "A row needs 11 barriers.",
            "It needs 11\nmore barriers.",
            "Barriers: 11.",
            "| task | barriers a row |\n|---|--:|\n| scan | 11 |\n",
            "| barriers | 3 | 11 |\n",
            "```\n  barriers            11 deep\n```\n",
            "![11 barriers in a row](figures/none.svg)",
        ]:
            self.assertEqual(len(self.faults(self.box(), before=shown)), 1, shown)
            self.assertEqual(len(self.faults(shown + "\n\n" + self.box())), 1, shown)
        large = self.box("18874368", "bytes", "18,874,368: nine times as many.")
        self.assertEqual(len(self.faults(large, before="The row pass has 18,874,368 of them.")), 1)

    def test_answers_that_are_not(self):
        for shown in [
            "<details><summary>A hint</summary>\n\n11 barriers.\n\n</details>\n",
            "The scan of these items has 3 4 11 11 15. Barriers separate its rounds.",
            "It needs 11.5 barriers or 1,011 barriers.",
            "A barrier of 11 warps",
            "| barriers | lanes |\n|--:|--:|\n| 3 | 11 |\n",
            "| task | points |\n|---|--:|\n| `barrier` A barrier | 11 |\n",
        ]:
            self.assertEqual(self.faults(self.box(), before=shown), [], shown)
        self.assertEqual(self.faults(self.box() + "11 barriers stand below the box."), [])
        self.assertEqual(
            self.faults(self.box("32", "sectors", "32."), before="Sectors of 32 bytes; 32-byte sectors"), []
        )
        self.assertEqual(self.faults(self.box("4", "barriers", "4."), before="4 barriers"), [])
        moved = self.box("16", "bytes an item", "16.")
        self.assertEqual(self.faults(moved, before="A lane loads 16 bytes. It combines its items."), [])
        self.assertEqual(len(self.faults(moved, before="For each item, 16 bytes are moved.")), 1)

    def test_a_label_of_a_figure_gives_away(self):
        name = next(
            p for p in sorted((HANDOUTS / "figures").glob("*.svg")) if "wavefronts<" in p.read_text("utf-8")
        )
        shown = list(shown_texts(f"![a](figures/{name.name})", HANDOUTS))
        found = next(m for m in (re.search(r"(\d\d+) wavefronts", label) for label, _ in shown) if m)
        self.assertEqual(
            len(self.faults(self.box(found[1], "wavefronts", found[1]), before=f"![a](figures/{name.name})")),
            1,
        )

    def test_boxes_of_another_form(self):
        self.assertEqual(len(self.faults(self.box("1,024"))), 1)
        self.assertEqual(len(self.faults(self.box().replace("Predict: ", ""))), 1)
        self.assertEqual(len(self.faults(self.box(said="One per round."))), 1)
        self.assertEqual(self.faults(self.box("1024", said="1,024 of them.")), [])

    def test_tasks_without_code(self):
        effort = "*Difficulty: easy. Time: about 1 hour.*"
        code = "```cuda\n__global__ void k();\n```\n"
        folded = f"<details><summary>Pseudocode</summary>\n\n{code}\n</details>\n"
        tasks = {"shown": ("", f"{effort}\n\n{code}"), "folded": ("", f"{effort}\n\n{folded}")}
        self.assertEqual(without_code(tasks), ["folded"])

    def test_open_results(self):
        row = "| `reduce` | 201.1 µs |\n"
        folded = f"<details><summary>a</summary>\n<!-- quote: rows h200: n of share -->\n{row}</details>\n"
        self.assertEqual(list(open_results(folded)), [])
        self.assertEqual(len(list(open_results(folded + "<!-- quote: rows h200: n of share -->\n"))), 1)
        self.assertEqual(len(list(open_results(row))), 1)
        self.assertEqual(len(list(open_results("<!-- quote: chart ladder-scan -->\n"))), 1)
        self.assertEqual(list(open_results(self.box(said=row))), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
