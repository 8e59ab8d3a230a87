#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the instructor's answers: every question and prediction of the handouts has one, none is left over,
and the numbers in them that were counted or measured are right.

usage: answers_test.py HANDOUTS

The numbers that are compared come from a handout's table of counts, from the published run (results/) or from
the assumptions of the page on scaling, and change with these.
"""

import json
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
HANDOUTS = pathlib.Path(sys.argv[1]).resolve()
DEEPER = "-deeper"
PAGES = [p for p in sorted(HANDOUTS.glob("[0-9][0-9]-*.md")) if not p.stem.endswith(DEEPER)]
NUMBERED = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", re.S | re.M)
TASK = re.compile(r"^### \d+\. `(\w+)`[^\n]*\n(.*?)(?=^#{2,3} |\Z)", re.S | re.M)
BOX = re.compile(r"<details class=\"prediction\" (data-answer=.*?)</details>", re.S)
HEADING = re.compile(r"^### (Prediction|Question|Exam) (\d+)\. (.*?)\n(.*?)(?=^#{2,3} |\Z)", re.S | re.M)
SECTIONS = {"Prediction": "Predict, then measure", "Question": "Questions"}


def text_of(page):
    """Of a lab's page, and of its deeper one, which asks the questions and has the counts."""
    deeper = page.with_stem(page.stem + DEEPER)
    return "".join(p.read_text(encoding="utf-8") for p in (page, deeper) if p.is_file())


def boxes_of(page):
    """{("Box", task): ("", its answer as a number and in words)} of a lab's page."""
    found = ((task, BOX.search(section)) for task, section in TASK.findall(text_of(page)))
    return {("Box", task): ("", box[1]) for task, box in found if box}


def answers_of(page):
    """{("Question", 3): (first words of the question, answer)}"""
    path = HANDOUTS / "instructor" / page.name
    if not path.is_file() and "\n## Questions\n" not in text_of(page):
        return {}  # a new lab, which asks nothing yet
    text = path.read_text(encoding="utf-8")
    found = HEADING.findall(text)
    assert len({(kind, number) for kind, number, *_ in found}) == len(found), (
        f"{page.name}: a number occurs twice"
    )
    return {(kind, int(number)): (title, body) for kind, number, title, body in found}


def asked(page):
    """{("Question", 3): its text} of a handout, without those that the handout answers itself."""
    text = text_of(page)
    found = {}
    for kind, section in SECTIONS.items():
        part = re.search(rf"^## {section}\n(.*?)(?=^## |^\*\*Sources|\Z)", text, re.S | re.M)
        for number, question in NUMBERED.findall(part[1] if part else ""):
            found[kind, int(number)] = " ".join(question.split())
    return found


# --- The sources of numbers.


def counted(lab, rung, column):
    """A cell of the table of counts in a lab's handout; the head of its column begins with `column`."""
    page = next(page for page in PAGES if page.stem[3:].replace("-", "_") == lab)
    block = re.search(r"<!-- quote: rows counts lab=\w+: .*?<!-- end quote -->", text_of(page), re.S)[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block.splitlines()
        if line.startswith("| ")
    ]
    row = next(row for row in rows if row[1].startswith(f"`{rung}`"))
    return row[next(k for k, head in enumerate(rows[0]) if head.startswith(column))]


RUN = json.loads(max((HANDOUTS / "results").glob("*-h200.json")).read_text(encoding="utf-8"))
LESSONS = json.loads(max((HANDOUTS / "results/lessons").glob("*-h200.json")).read_text(encoding="utf-8"))


def sizes(lab):
    """The sizes of a lab in the newest run."""
    return {size["n"]: size for one in RUN["labs"] if one["lab"] == lab for size in one["sizes"]}


def if_all_equal(rung, n, bins):
    """How many times as long a rung of lab 5 takes for equal samples as for uniform ones."""
    rows = [row for row in LESSONS["contention"] if (row["rung"], row["n"], row["bins"]) == (rung, n, bins)]
    times = {row["percent"]: row["median_us"] for row in rows}
    return times[100] / times[0]


def measured(lab, rung, n):
    """Median in µs."""
    return next(
        row["median_us"] for table in sizes(lab)[n]["tables"] for row in table["rows"] if row["name"] == rung
    )


def one_cpu_thread(lab, n):
    """The CPU's time in µs for random items, with which a lab's goals of speedup compare (points.hpp)."""
    points = (HANDOUTS.parent / "labs" / lab / "points.hpp").read_text(encoding="utf-8")
    return float(re.search(rf'\{{"", "[^"]*_n{n}_random", (\d+)\}}', points)[1])


def assumed(words):
    """The value of an assumption of the page on scaling; the first one that has these words."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (HANDOUTS / "scaling.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    return float(next(row[2] for row in rows if len(row) == 4 and words in row[1]).split()[0])


def different(boxes, balls):
    """Expected number of boxes that are not empty."""
    return boxes * (1 - (1 - 1 / boxes) ** balls)


def work(lab, rung):
    return counted(lab, rung, "operations ÷ closed form")


def moved(lab, rung):
    """Bytes, by those that must move."""
    return float(counted(lab, rung, "bytes ÷ what must move"))


def ratio(lab, rung, other, n=2**24):
    """How many times as long as another one a rung takes."""
    return measured(lab, rung, n) / measured(lab, other, n)


# --- What the answers must contain: (page, kind, number): strings.


def numbers():
    m = 2**24

    # Lab 1
    times = [ratio("reduction", rung, "coarsened") for rung in ["neighboured", "sequential", "shuffle"]]
    yield "01", "Prediction", 3, ["{:.1f}, {:.1f} and {:.1f} times as long".format(*times)]
    barriers = [counted("reduction", rung, "barriers per") for rung in ["coarsened", "neighboured"]]
    yield "01", "Question", 5, ["{} instead of {}".format(*barriers), work("reduction", "coarsened")]

    # Lab 2
    yield "02", "Prediction", 1, [work("scan", "hillis_steele"), work("scan", "blelloch")]
    yield "02", "Prediction", 2, [f"{ratio('scan', 'blelloch', 'hillis_steele'):.1f} times"]
    bytes_moved = counted("scan", "global_rounds", "bytes ÷ what must move")
    yield "02", "Prediction", 4, [f"{bytes_moved} times"]
    yield "02", "Question", 6, [work("scan", "segmented"), work("scan", "coarsened")]
    yield "02", "Question", 8, [counted("scan", rung, "steps") for rung in ["hillis_steele", "coarsened"]]

    # Lab 3
    yield "03", "Prediction", 2, [f"{6 * moved('compaction', 'fused'):.1f}"]
    rungs = {"three_kernels": 7, "fused": 5, "warp_aggregated": 5, "single_pass": 2}
    expected = [6 * m * moved("compaction", rung) / 4.2e6 + 2 * launches for rung, launches in rungs.items()]
    found = [measured("compaction", rung, m) for rung in rungs]
    texts = [
        "{:.0f}, {:.0f}, {:.0f} and {:.0f} µs".format(*expected),
        "{:.1f}, {:.1f}, {:.1f} and {:.1f} µs".format(*found),
    ]
    yield "03", "Prediction", 4, texts

    # Lab 4
    split = moved("radix_sort", "split")
    yield "04", "Prediction", 1, [f"{split:.0f} · 8 / 16 = {split * 8 / 16:.0f}"]
    barriers = counted("radix_sort", "tile_sort", "barriers per").removesuffix(".0")
    yield "04", "Box", "tile_sort", [f"{barriers}: "]
    per_pass = moved("radix_sort", "digits") * 8 / 4
    spread = per_pass - 92 / 16 + different(256, 32)
    texts = [f"{per_pass:.1f} bytes", f"about {spread:.0f} bytes", f"about {spread * 4 / 8:.0f}."]
    yield "04", "Prediction", 2, texts
    copy = sizes("radix_sort")[m]["ceilings"]["copy"]["median_us"]
    rungs = ["split", "digits", "onesweep"]
    texts = [f"{copy:.0f} µs", *(f"{measured('radix_sort', rung, m) / copy:.0f} times" for rung in rungs)]
    texts += [f"{split:.0f} (the same", *(f"{moved('radix_sort', rung):.1f}" for rung in rungs[1:])]
    yield "04", "Prediction", 3, texts
    yield "04", "Question", 3, [f"{ratio('radix_sort', 'merge', 'merge_path'):.1f} times"]

    # Lab 5
    texts = [f"{if_all_equal(rung, m, 256):.2f} times" for rung in ["shared_counts", "combined"]]
    yield "05", "Prediction", 2, [*texts, f"ratio is {if_all_equal('global_atomics', m, 256):.1f}:"]
    yield "05", "Question", 4, [f"{ratio('histogram', 'shared_counts', 'per_warp'):.2f} times"]

    # Lab 6
    for rung, words in [("serial", "moves {:.0f}:"), ("rows_columns", "{:.0f}: ")]:
        yield "06", "Box", "rows_columns", [words.format(8 * moved("sat", rung))]
    for n, words in [(m, "{:.1f}×"), (2**28, "{:.2f}×")]:
        yield "06", "Prediction", 1, [words.format(ratio("sat", "rows_columns", "transpose", n))]

    # Lab 7
    lab = "hierarchical_scan"
    steps = [int(counted(lab, rung, "steps")) for rung in ["recursive", "chained"]]
    yield "07", "Prediction", 2, ["{} and {}".format(*steps), f"{512 - 128} links: {steps[1] + 512 - 128}"]
    faster = [ratio(lab, "recursive", "reduce_then_scan", n) for n in [m, 2**20]]
    yield "07", "Box", "reduce_then_scan", [f"{faster[0]:.2f} times", f"{faster[1]:.2f} at"]
    copy_rate = max(size["ceilings"]["copy"]["gb_per_s"] for size in sizes(lab).values())
    micros = 8 * m / copy_rate / 1000
    chained, cpu = measured(lab, "chained", m), one_cpu_thread(lab, m)
    texts = [f"{chained / 1000:.2f} ms", f"{cpu / 1000:.1f} ms", f"{cpu / chained:.1f} times"]
    texts += [f"{micros:.0f} µs", f"{round(m / round(micros), -4):,.0f} items"]
    yield "07", "Box", "chained", texts

    # Lab 8
    launch, step = assumed("start of a collective"), assumed("a step of a ring")
    rate, direct = assumed("and receives at the same time"), assumed("the same in the low-latency")
    equal = 14 * step / (7 / (1e3 * direct) - 1.75 / (1e3 * rate))
    texts = [
        f"{launch:.0f} + 7n/{1000 * direct:,.0f} µs",
        f"{launch:.0f} + 14 · {step:.0f} + 1.75n/{1000 * rate:,.0f} µs",
    ]
    yield "08", "Prediction", 1, [*texts, f"n = {equal:,.0f}", f"{equal / 1e6:.1f} million"]
    sent = [float(counted("multi_gpu", rung, "bytes sent")) for rung in ["histogram_all_reduce", "histogram"]]
    yield "08", "Box", "histogram", [f'data-answer="{sent[0] / sent[1]:.0f}"']


class Answers(unittest.TestCase):
    def test_every_question_has_an_answer(self):
        total = {"Prediction": 0, "Question": 0}
        for page in PAGES:
            wanted, given = asked(page), answers_of(page)
            total["Prediction"] += len(boxes_of(page))
            for kind, _number in wanted:
                total[kind] += 1
            open_ones = {one for one, text in wanted.items() if "<summary>Answer</summary>" not in text}
            self.assertEqual(open_ones, {one for one in given if one[0] != "Exam"}, page.name)
        self.assertGreater(min(total.values()), 40)

    def test_answers_belong_to_their_questions(self):
        for page in PAGES:
            wanted = asked(page)
            for one, (title, body) in answers_of(page).items():
                self.assertGreater(len(body.split()), 3, f"{page.name}, {one}: no answer")
                if one[0] != "Exam":
                    self.assertGreaterEqual(
                        len(title.split()), 3, f"{page.name}, {one}: quote more of the question"
                    )
                    self.assertTrue(
                        wanted[one].startswith(title), f"{page.name}, {one} begins: {wanted[one][:60]}"
                    )

    def test_every_lab_has_five_exam_questions(self):
        for page in PAGES:
            exam = {number: body for (kind, number), (_, body) in answers_of(page).items() if kind == "Exam"}
            if "\n## Questions\n" in text_of(page):
                self.assertGreaterEqual(len(exam), 5, page.name)
            for number, body in exam.items():
                self.assertRegex(
                    body, r"(?s)\*\*Question\.\*\* .*\*\*Answer\.\*\* ", f"{page.name}, exam {number}"
                )

    def test_numbers_are_right(self):
        pages = {page.name[:2]: answers_of(page) | boxes_of(page) for page in PAGES}
        checked = set()
        for page, kind, number, strings in numbers():
            body = " ".join(pages[page][kind, number][1].rpartition("**Answer.**")[2].split())
            for string in strings:
                self.assertIn(string, body, f"{page}, {kind} {number}")
            checked.add((page, kind, number))
        self.assertGreater(len(checked), 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
