#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the machine of the page with the one of this computer: every array after every step, and the
findings, for many kernels, lengths, operators, items and schedules. Then it uses the page: keys,
links, widths, colours.

    play_test.py BUILD Machine      # the machine in node, without a browser
    play_test.py BUILD Page         # the page in a headless Chromium
    play_test.py BUILD Firefox      # its runs in a headless Firefox
    play_test.py BUILD Front        # what the page shows first, with answers of this computer's player

COMBINATIONS=2000 compares more; SCREENSHOTS=FOLDER leaves pictures to look at. Skipped without emscripten or
a browser, and until `./lab play` has built the machine once, which takes minutes; from then on the tests
bring it up to date. Front needs neither emscripten nor the machine.
"""

import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE / "testing"), str(HERE.parent / "page/browser")]
import chromium
import firefox
import make_play
import records

BUILD = pathlib.Path(sys.argv[1]).resolve()
PLAYER = BUILD / "grader/play/player_native"
NODE = ["node", HERE / "testing/machine_node.js", BUILD / "play"]
CHECKS = (HERE.parent / "page/browser/checks.js").read_text(encoding="utf-8")
COMBINATIONS = int(os.environ.get("COMBINATIONS", "0"))  # 0: as many as fit into some minutes
ITEMS = ["example", "random", "ascending", "descending", "all_equal", "alternating", "extremes"]
SKIPPED = 77


def why_not(part):
    if part in ("Page", "Front") and chromium.find() is None:
        return "there is no chromium here: apt-get install chromium"
    if part == "Front":
        return None
    if shutil.which("emcc") is None:
        return "there is no emcc here: apt-get install emscripten"
    if part == "Machine" and shutil.which("node") is None:
        return "there is no node here: apt-get install nodejs"
    if part == "Firefox" and firefox.find() is None:
        return "there is no Firefox here: apt-get install firefox-esr"
    if not (BUILD / "play/machine.wasm").exists() or not list(BUILD.glob("grader/play/play_*.json")):
        return "the machine and its kernels are not built yet: ./lab play"
    return None


# Adds 1 + 2^-30 and rounds up, which WebAssembly cannot.
ROUNDS_UP = """.version 8.0
.target sm_80
.address_size 64
.visible .entry rounds(.param .u64 p) {
  .reg .f32 %f<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  add.rp.f32 %f2, %f1, 0f30800000;
  st.global.f32 [%rd1], %f2;
  ret;
}
"""


def one_kernel(ptx, name):
    work = {"kernel": name, "grid": [1, 1, 1], "block": [32, 1, 1]}
    work |= {"parameters": [0, 0], "pointers": [[0, ["out0", 0]]]}
    case = {"lab": "reduction", "task": "neighboured", "variant": "sum_f32", "n": 8, "items": "example"}
    return {**case, "ptx": ptx, "work": [work]}


def combinations(programs, most):
    """Each kernel, version and operator at least once, if there is room for them."""
    dice = random.Random(2026)
    every = [
        (program, copy, task, variant)
        for program in programs
        for copy, tasks in program.copies.items()
        for task, variants in tasks.items()
        for variant in variants
    ]
    dice.shuffle(every)
    for k in range(most):
        program, copy, task, variant = every[k % len(every)]
        n = dice.choice(program.copies[copy][task][variant])[0]
        items = dice.choice([name for name in ITEMS if name in program.items[variant]])
        yield program, copy, task, variant, n, items, dice.randrange(99), dice.randrange(4)


def built():
    """The machine, brought up to date, and what it runs."""
    made = subprocess.run([sys.executable, HERE / "build_wasm.py", BUILD], capture_output=True, text=True)
    if made.returncode != 0:
        raise AssertionError(made.stdout + made.stderr)
    return list(make_play.programs(BUILD))


class Comparing(unittest.TestCase):
    def compare(self, what, here, there):
        self.assertNotIn("error", json.loads(here), what)
        if there != here:
            at = next((k for k, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there)))
            around = slice(max(at - 80, 0), at + 80)
            self.fail(f"{what}:\nhere  {here[around]}\nthere {there[around]}")


def some_runs(program, copy, tasks):
    """Of all operators and several schedules, the simple ones first."""
    for task, variants in tasks.items():
        names = sorted(variants, key=lambda name: ("i32" not in name, "sum" not in name))
        for n, schedule in ((7, 0), (33, 0), (64, 1), (16, 2), (64, 0), (64, 3)):
            for items in ("random", "descending", "example"):
                for variant in names:
                    if n in dict(variants[variant]) and items in program.items[variant]:
                        yield program.request(copy, task, variant, n, items, schedule=schedule)


def shows_a_fault(answer):
    return not answer["right"] or answer["findings"] or answer["fault"]


def lines_of(command, requests):
    """The answers to requests, as they are."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Machine(Comparing):
    @classmethod
    def setUpClass(cls):
        cls.programs = built()

    def test_equals_the_machine_of_this_computer(self):
        chosen = list(combinations(self.programs, COMBINATIONS or 400))
        for first in range(0, len(chosen), 50):
            part = chosen[first : first + 50]
            requests = [program.request(*rest) for program, *rest in part]
            here, there = lines_of([PLAYER], requests), lines_of(NODE, requests)
            for (program, *rest), one, other in zip(part, here, there, strict=True):
                self.compare((program.lab, program.size, *rest), one, other)

    def test_refuses_rounding_that_webassembly_lacks(self):
        answer = lines_of(NODE, [one_kernel(ROUNDS_UP, "rounds")])[0]
        self.assertRegex(json.loads(answer)["fault"], r"add\.rp\.f32")

    def test_packed_programs_are_the_recorded_ones(self):
        for program in self.programs:
            packed = make_play.Packer([program]).packed()
            for copy, one in packed["sizes"][program.size].items():
                self.assertEqual(packed["texts"][one["head"]], program.heads[copy])
                for entry in (packed["texts"][number] for number in one["entries"]):
                    self.assertEqual(program.entries[copy][records.ENTRY.search(entry)[1]], entry)
                for task, variants in one["tasks"].items():
                    for variant, number in variants.items():
                        recorded = program.copies[copy][task][variant]
                        unpacked = list(unpacked_works(packed, packed["ranges"][number]))
                        self.assertEqual(unpacked, [(n, program.work(work)) for n, work in recorded])

    def test_each_mutant_shows_its_fault(self):
        copies, caught = set(), set()
        for program in sorted(self.programs, key=lambda one: int(one.size)):
            for copy, tasks in program.copies.items():
                if copy == "solution":
                    continue
                copies.add((program.lab, copy))
                if (program.lab, copy) not in caught and any(
                    shows_a_fault(records.run(PLAYER, [request])[0])
                    for request in some_runs(program, copy, tasks)
                ):
                    caught.add((program.lab, copy))
        self.assertEqual(copies - caught, set())


def unpacked_works(packed, ranges):
    """What play.js makes of the ranges of lengths."""
    for first, last, template, numbers, growth in ranges:
        for n in range(first, last + 1):
            pieces = packed["templates"][template].split("#")
            grown = [str(x + growth.get(str(k), 0) * (n - first)) for k, x in enumerate(numbers)]
            yield n, json.loads("".join(map("".join, zip(pieces, [*grown, ""], strict=True))))


DIGESTS = """(window.digests = async (addresses) => {
  const digests = [];
  for (const address of addresses) {
    history.replaceState(null, '', '#');
    const text = await new Promise((done) => {
      addEventListener('played', (event) => done(event.detail), { once: true });
      location.hash = address;
    });
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const rows = new Map([...document.querySelectorAll('#arrays .array')].map((row) =>
      [row.firstChild.textContent, [...row.querySelectorAll('.cell')].map((cell) => cell.lastChild.data)]));
    const wrong = (JSON.parse(text).outputs ?? []).filter(({ name, got }) =>
      rows.get(name)?.some((shown, k) => shown !== got[k] && !['·', '…'].includes(shown)));
    digests.push([hex, wrong.map(({ name }) => name)]);
  }
  return digests;
}, 0)"""


# In place of the machine: answers by task and number of items.
STAND_IN = """const make_machine = async () => {
  let request = null;
  const answers = %s;
  return { lengthBytesUTF8: () => 0, _malloc: () => 0, _free: () => {}, stringToUTF8: (text) => { request = JSON.parse(text); },
    _play: () => 0, UTF8ToString: () => answers[`${request.task} ${request.n}`] ?? '{"error": "not recorded"}' };
};"""
NO_CODE = b"\0asm\1\0\0\0"
SEEN = "({0}).getBoundingClientRect().height > 0 && ({0}).getBoundingClientRect().top < innerHeight"


class Front(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        record = min(BUILD.glob("grader/play/play_*_*.limits")).with_suffix(".json")
        program = records.Program(record, record.stem.rpartition("_")[2])
        variants = {
            task: min(v, key=lambda name: not name.endswith("sum_i32"))
            for task, v in program.copies["solution"].items()
        }
        requests = [program.request("solution", task, v, 8, "example") for task, v in variants.items()]
        answers = {
            f"{one['task']} 8": text for one, text in zip(requests, lines_of([PLAYER], requests), strict=True)
        }
        cls.answers = {task: json.loads(text) for task, text in answers.items()}
        cls.folder = tempfile.TemporaryDirectory()
        place = pathlib.Path(cls.folder.name)
        (place / "play").mkdir()
        (place / "play/machine.js").write_text(STAND_IN % json.dumps(answers), encoding="utf-8")
        (place / "play/machine.wasm").write_bytes(NO_CODE)
        cls.path = place / "play.html"
        cls.path.write_text(make_play.page(place, make_play.labs_of(BUILD, [program])), encoding="utf-8")
        cls.browser = chromium.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def opened(self, link="", **how):
        page = self.browser.open(self.path.as_uri() + link, **how)
        InABrowser.wait(page)
        return page

    def test_a_kernel_runs_before_anything_is_chosen(self):
        for width in (360, 768, 1440):
            page = self.opened(width=width)
            step = "Number(document.querySelector('#slider').value)"
            InABrowser.wait_until(f"{step} > 1", page)
            self.assertTrue(page.run(SEEN.format("document.querySelector('#arrays .cell')")), width)
            self.assertEqual(
                page.run(
                    "[...document.querySelectorAll('select')].filter((s) => s.checkVisibility()).length"
                ),
                0,
            )
            order = (
                "document.querySelector('#arrays').compareDocumentPosition(document.querySelector('#choice'))"
            )
            self.assertEqual(page.run(order), 4)  # following
            self.assertEqual(page.run("document.querySelector('#play').textContent"), "Pause")
            page.run(
                "document.querySelector('#arrays').dispatchEvent(new Event('pointerdown', { bubbles: true }))"
            )
            self.assertEqual(page.run("document.querySelector('#play').textContent"), "Play")
            self.assertEqual(page.problems, [])
            page.close()

    def test_it_stands_still_for_a_link_or_reduced_motion(self):
        task = next(iter(self.answers)).split()[0]
        for page in (self.opened(still=True), self.opened(f"#task={task}&n=8&step=3")):
            self.assertEqual(page.run("document.querySelector('#play').textContent"), "Play")
            page.close()

    def test_it_plays_to_the_end(self):
        page = self.opened()
        page.run(
            "document.querySelector('#slider').value = document.querySelector('#slider').max - 2;"
            "document.querySelector('#slider').dispatchEvent(new Event('input'))"
        )
        InABrowser.wait_until("document.querySelector('#play').textContent === 'Play'", page)
        said = page.run("document.querySelector('#moment').value")
        self.assertRegex(said, r"Step (\d+) of \1:")
        page.close()

    def test_nothing_is_cut_and_no_texts_overlap(self):
        page = self.opened(still=True)
        page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        for step in (0, 3, 10**6):
            page.run(
                f"document.querySelector('#slider').value = {step};"
                "document.querySelector('#slider').dispatchEvent(new Event('input'))"
            )
            for width in (360, 768, 1440):
                for dark in (False, True):
                    page.look(width, 900, dark, still=True)
                    for check in ("overflow", "contrast", "structure", "drawings", "cut"):
                        self.assertEqual(page.run(f"({CHECKS}).{check}()"), [], (check, width, dark, step))
                    if shots := os.environ.get("SCREENSHOTS"):
                        page.screenshot(pathlib.Path(shots) / f"play-{step}-{width}{'-dark' * dark}.png")
        self.assertEqual(page.problems, [])
        page.close()


class InABrowser(Comparing):
    @classmethod
    def setUpClass(cls):
        cls.programs = built()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name) / "play.html"
        labs = make_play.labs_of(BUILD, cls.programs)
        cls.path.write_text(make_play.page(BUILD, labs), encoding="utf-8")
        cls.start()
        cls.wait(cls.page)

    @classmethod
    def wait(cls, page):
        """For the run with which the page begins."""
        cls.wait_until("!document.querySelector('#player').hidden", page)

    @classmethod
    def wait_until(cls, condition, page=None):
        for _ in range(600):
            if (page or cls.page).run(condition):
                return
            (page or cls.page).run("new Promise((done) => setTimeout(done, 50))")
        raise AssertionError(f"never became true: {condition}")

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def play(self, **state):
        """Opens a link; the answer of the machine as text."""
        return self.open({"items": "example", "seed": 1, "schedule": 0, "step": 0, **state})

    def open(self, state):
        address = urllib.parse.urlencode(state)
        return self.page.run(
            "new Promise((done) => { addEventListener('played', (e) => done(e.detail), { once: true });"
            f"history.replaceState(null, '', '#'); location.hash = {json.dumps(address)}; }})"
        )

    def compare_with_this_computer(self, most):
        """Answers are large, so the page sends their digests; `shown` are arrays of the last step that differ
        from the memory after the run."""
        self.page.run(DIGESTS)
        names = ("version", "task", "variant", "n", "items", "seed", "schedule")
        chosen = list(combinations(self.programs, COMBINATIONS or most))
        for first in range(0, len(chosen), 50):
            part = chosen[first : first + 50]
            here = lines_of([PLAYER], [program.request(*rest) for program, *rest in part])
            states = [
                {"lab": program.lab, "block": program.size, **dict(zip(names, rest, strict=True))}
                for program, *rest in part
            ]
            addresses = [urllib.parse.urlencode(state | {"step": 10**6}) for state in states]
            there = self.page.run(f"digests({json.dumps(addresses)})")
            for state, one, (digest, shown) in zip(states, here, there, strict=True):
                self.compare(
                    state,
                    one,
                    one if digest == hashlib.sha256(one.encode()).hexdigest() else self.play(**state),
                )
                self.assertEqual(shown, [], state)


class Firefox(InABrowser):
    @classmethod
    def start(cls):
        cls.browser = cls.page = firefox.Firefox()
        cls.page.open(cls.path)

    def test_equals_the_machine_of_this_computer(self):
        self.compare_with_this_computer(40)


class Page(InABrowser):
    @classmethod
    def start(cls):
        cls.browser = chromium.Browser(seconds=240)
        cls.page = cls.browser.open(cls.path)

    def test_equals_the_machine_of_this_computer(self):
        self.compare_with_this_computer(60)
        self.assertEqual(self.page.problems, [])

    def panels(self):
        return self.page.run(
            "document.querySelector('#panels').innerText + document.querySelector('#moment').value"
        )

    def test_steps_by_key_and_back_show_the_same(self):
        self.play(lab="reduction", task="neighboured", version="solution", variant="sum_i32", block=8, n=8)
        self.page.run("document.activeElement.blur()")
        forwards = [self.panels()]
        for _ in range(12):
            self.page.press("ArrowRight")
            forwards.append(self.panels())
        self.assertEqual(len(set(forwards)), 13)
        for k in range(12):
            self.page.press("ArrowLeft")
            self.assertEqual(self.panels(), forwards[11 - k])
        self.page.press("End")
        self.assertIn("Step 24 of 24", self.panels())
        self.wait_until("location.hash.includes('step=24')")

    def test_link_opens_the_same_step(self):
        state = {"lab": "scan", "task": "blelloch", "version": "solution", "block": 8, "n": 8}
        self.page.look(1440)
        self.play(**state, variant="exclusive_sum_i32", step=20)
        shown = self.panels()
        self.assertIn("Step 20", shown)
        other = self.browser.open(self.path.as_uri() + self.page.run("location.hash"))
        self.wait(other)
        text = other.run(
            "document.querySelector('#panels').innerText + document.querySelector('#moment').value"
        )
        self.assertEqual(text, shown)
        other.close()

    def test_link_wins_over_a_step_remembered_late(self):
        state = {"lab": "scan", "task": "blelloch", "version": "solution", "block": 8, "items": "example"}
        opened, late = (urllib.parse.urlencode(state | {"n": n}) for n in (8, 7))
        answer = self.page.run(
            "new Promise((done) => { addEventListener('played', (e) => done(e.detail), { once: true });"
            f"location.hash = '{opened}'; history.replaceState(null, '', '#{late}'); }})"
        )
        self.assertEqual(json.loads(answer)["n"], 8)

    def test_typed_items_are_used_and_bad_ones_refused(self):
        state = {"lab": "reduction", "task": "sequential", "version": "solution"}
        state |= {"variant": "sum_i32", "block": 8}
        answer = json.loads(self.play(**state, items="typed", typed="5 6 7", n=3))
        self.assertEqual(answer["outputs"][0]["got"], ["18"])
        self.assertIn("error", json.loads(self.play(**state, items="typed", typed="5 x", n=2)))

    def test_names_of_parameters_are_explained(self):
        self.play(lab="hierarchical_scan", task="look_back", version="solution", block=4, n=64)
        self.page.run("document.querySelector('[data-go=last]').click()")
        shown = self.page.run("document.querySelector('#launch').textContent")
        self.assertIn("Launch 2 of 2: k05_look_back, 4 × 4 threads.", shown)
        self.assertIn("d_totals is d_sums, d_prefixes is d_sums from element 4", shown)

    def test_hidden_fault_of_a_version_is_said(self):
        state = {"lab": "scan", "task": "blelloch", "version": "children_swapped", "block": 8, "n": 8}
        for variant, hides in (("exclusive_sum_i32", True), ("exclusive_affine_u64", False)):
            self.play(**state, variant=variant)
            status = self.page.run("document.querySelector('#status').textContent")
            self.assertEqual("does not show in this run" in status, hides, status)

    def test_source_has_the_chosen_size_of_blocks(self):
        state = {"lab": "reduction", "task": "sequential", "version": "solution", "variant": "sum_i32"}
        for block in (8, 64):
            self.play(**state, block=block, n=8)
            source = self.page.run("document.querySelector('#source').textContent")
            self.assertIn(f"kBlock = {block};", source)
            self.assertIn(f"kWarp = {min(block, 32)};", source)

    def focused(self):
        """The element with the focus: its name, and what is wrong with how it is shown."""
        return self.page.run("""(() => {
          const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
          const top = document.elementFromPoint(box.left + box.width / 2, Math.min(box.top + box.height / 2, innerHeight - 1));
          const seen = one.contains(top) || top?.contains(one) && !one.closest('#player') === !top.closest('#player');
          return [one.focusName, one === document.body || style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && seen];
        })()""")

    def tab_to(self, selector):
        for _ in range(99):
            if self.page.run(f"document.activeElement.matches({json.dumps(selector)})"):
                return
            self.page.press("Tab")
        self.fail(f"no Tab leads to {selector}")

    def test_every_control_is_reached_and_seen_by_tab(self):
        self.play(lab="reduction", task="sequential", version="missing_barrier", block=64, n=64, step=30)
        for width in (360, 1440):
            self.page.look(width, 800)
            wanted = self.page.run("""(() => {
              scrollTo(0, 0);
              document.querySelector('#choice').parentElement.open = true;
              document.querySelector('#play').focus();
              const all = [...document.querySelectorAll('select, input, button, summary, [tabindex]')]
                .filter((one) => !one.disabled && one.checkVisibility());
              all.forEach((one, k) => { one.focusName = `${k} ${one.name || one.id || one.textContent.slice(0, 20)}`; });
              return all.map((one) => one.focusName);
            })()""")
            reached = wanted[:1]
            for _ in wanted[1:]:
                self.page.press("Tab")
                name, is_seen = self.focused()
                self.assertTrue(is_seen, (name, width))
                reached.append(name)
            self.assertEqual(reached, wanted)

    def test_keys_choose_run_step_and_stop(self):
        self.page.look(1440)
        self.play(lab="reduction", task="neighboured", version="solution", variant="sum_i32", block=8, n=8)
        step = "Number(document.querySelector('#slider').value)"
        status = "document.querySelector('#status').textContent"
        choice = "document.querySelector('#choice').parentElement.open"
        self.page.run(f"{choice} = true")
        self.addCleanup(self.page.run, f"{choice} = false")
        self.tab_to("[name=task]")
        self.page.press("ArrowDown")
        self.wait_until("document.querySelector('#about').textContent.includes('Sequential')")
        self.page.run(
            "window.before = new Promise((done) => addEventListener('played', done, { once: true })); 0"
        )
        self.tab_to("#run")
        self.page.press("Enter")
        self.page.run("window.before.then(() => 0)")
        self.assertEqual(self.page.run(step), 0)
        self.tab_to("[data-go=next]")
        self.page.press("Enter")
        self.page.press(" ")
        self.assertEqual(self.page.run(step), 2)
        self.tab_to("#slider")
        self.page.press("ArrowRight")
        self.assertEqual(self.page.run(step), 3)
        self.page.press("PageDown")
        self.assertIn("passed a barrier", self.page.run("document.querySelector('#moment').value"))
        self.page.press("PageUp")
        self.page.press("Home")
        self.assertEqual(self.page.run(step), 0)
        # A machine that does not answer.
        self.page.run(
            "Worker.prototype.send = Worker.prototype.postMessage; Worker.prototype.postMessage = () => {}; 0"
        )
        self.tab_to("#run")
        self.page.press("Enter")
        self.tab_to("#stop")
        self.page.run("Worker.prototype.postMessage = Worker.prototype.send; 0")
        self.page.press("Enter")
        self.assertEqual(self.page.run(status), "Stopped.")
        self.tab_to("[data-go=next]")  # the run before is still there
        self.page.press("Enter")
        self.page.press("Enter")
        self.assertEqual(self.page.run(step), 2)
        self.assertIn("of 8 threads", self.panels())
        self.tab_to("#run")
        self.page.press("Enter")
        self.wait_until(f"{status}.startsWith('The run took')")

    def test_asks_nobody_for_anything(self):
        loaded = self.page.run("performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertEqual([name for name in loaded if not name.startswith("blob:")], [])
        self.assertIn("default-src 'none'", self.path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    if reason := why_not(sys.argv[2]):
        print(f"Skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
