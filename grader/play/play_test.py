#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the machine in a page, in a headless Chromium, with the one of this computer: every array after
every step, the findings and the counters, for many kernels, lengths, operators, items and schedules. Then it
uses the page: keys, links, widths, colours.

usage: play_test.py BUILD      COMBINATIONS=2000 compares more; SCREENSHOTS=FOLDER leaves pictures to look at

Skipped without emscripten or Chromium, and until `./lab play` has built the machine once, which takes minutes;
from then on the test brings it up to date.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "page/browser")]
import chromium
import make_play

BUILD = pathlib.Path(sys.argv[1]).resolve()
PLAYER = BUILD / "grader/play/player_native"
CHECKS = (HERE.parent / "page/browser/checks.js").read_text(encoding="utf-8")
COMBINATIONS = int(os.environ.get("COMBINATIONS", "150"))
ITEMS = ["example", "random", "ascending", "descending", "all_equal", "alternating", "extremes"]
SKIPPED = 77


def why_not():
    if shutil.which("emcc") is None:
        return "there is no emcc here: apt-get install emscripten"
    if chromium.find() is None:
        return "there is no chromium here: apt-get install chromium"
    if not (BUILD / "play/machine.wasm").exists() or not list(BUILD.glob("grader/play/play_*.json")):
        return "the machine and its kernels are not built yet: ./lab play"
    return None


# A kernel that waits for a word that no thread writes.
SPINS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry spins(.param .u64 p) {
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.ne.s32 %p1, %r1, 77;
  @%p1 bra again;
  ret;
}
"""
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
    work = {
        "kernel": name,
        "grid": [1, 1, 1],
        "block": [32, 1, 1],
        "parameters": "00" * 8,
        "pointers": [[0, ["out0", 0]]],
    }
    case = {"lab": "reduction", "task": "neighboured", "variant": "sum_f32", "n": 8, "items": "example"}
    return {**case, "ptx": ptx, "work": [work]}


class Play(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = subprocess.run([sys.executable, HERE / "build_wasm.py", BUILD], capture_output=True, text=True)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        cls.programs = list(make_play.programs(BUILD))
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name) / "play.html"
        data = make_play.labs_of(BUILD, PLAYER, cls.programs)
        cls.path.write_text(make_play.page(BUILD, data), encoding="utf-8")
        cls.browser = chromium.Browser(seconds=240)
        cls.page = cls.browser.open(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def play(self, **state):
        """Opens a link; the answer of the machine as text."""
        address = urllib.parse.urlencode({"items": "example", "seed": 1, "schedule": 0, "step": 0, **state})
        return self.page.run(
            "new Promise((done) => { addEventListener('played', (e) => done(e.detail), { once: true });"
            f"location.hash = {json.dumps(address)}; }})"
        )

    def combinations(self):
        dice = random.Random(2026)
        every = [
            (program, copy, task, variant)
            for program in self.programs
            for copy, tasks in program.copies.items()
            for task, variants in tasks.items()
            for variant in variants
        ]
        for k in range(COMBINATIONS):
            program, copy, task, variant = every[k] if k < len(every) < COMBINATIONS else dice.choice(every)
            n = dice.choice(program.copies[copy][task][variant])[0]
            yield program, copy, task, variant, n, dice.choice(ITEMS), dice.randrange(99), dice.randrange(4)

    def test_equals_the_machine_of_this_computer(self):
        chosen = list(self.combinations())
        seen = {"findings": 0, "faults": 0, "wrong": 0, "steps": 0}
        for first in range(0, len(chosen), 100):
            part = chosen[first : first + 100]
            requests = [program.request(*rest) for program, *rest in part]
            lines = "".join(json.dumps(request) + "\n" for request in requests)
            done = subprocess.run([PLAYER], input=lines, capture_output=True, text=True, check=True)
            for (program, copy, task, variant, n, items, seed, schedule), here in zip(
                part, done.stdout.splitlines(), strict=True
            ):
                state = {
                    "lab": program.lab,
                    "task": task,
                    "version": copy,
                    "variant": variant,
                    "block": program.block,
                    "items": items,
                    "n": n,
                    "seed": seed,
                    "schedule": schedule,
                }
                there = self.play(**state)
                self.assertNotIn("error", json.loads(here), state)
                if there != here:
                    at = next(
                        (k for k, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there))
                    )
                    self.fail(f"{state}:\nhere  {here[at - 80 : at + 80]}\nthere {there[at - 80 : at + 80]}")
                answer = json.loads(here)
                seen["findings"] += answer["findings"] != ""
                seen["faults"] += answer["fault"] != ""
                seen["wrong"] += not answer["right"]
                seen["steps"] += len(answer["steps"])
        print(f"{len(chosen)} runs are equal: {seen}", file=sys.stderr)
        self.assertEqual(self.page.problems, [])

    def test_each_mutant_shows_its_fault(self):
        caught, copies = set(), set()
        for program in self.programs:
            for copy, tasks in program.copies.items():
                if copy == "solution":
                    continue
                copies.add((program.lab, copy))
                which = [
                    (copy, task, variant, n, items)
                    for task, variants in tasks.items()
                    for variant, lengths in variants.items()
                    if re.search("(sum|min)_i32$|affine_u64$", variant)
                    for n in (7, 33)
                    for items in ("random", "descending")
                    if n in dict(lengths)
                ]
                for answer in make_play.run(PLAYER, [program.request(*one) for one in which]):
                    if not answer["right"] or answer["findings"] or answer["fault"]:
                        caught.add((program.lab, copy))
        self.assertEqual(copies - caught, set())

    def test_kernels_that_never_end_are_stopped(self):
        answer = make_play.run(PLAYER, [one_kernel(SPINS, "spins")])[0]
        self.assertRegex(answer["fault"], "stopped here|will never end")

    def test_refuses_rounding_that_webassembly_lacks(self):
        request = json.dumps(json.dumps(one_kernel(ROUNDS_UP, "rounds")))
        text = self.page.run(
            "new Promise((done) => { const code = new Blob([document.querySelector('#worker').textContent]);"
            "const w = new Worker(URL.createObjectURL(code)); const raw = document.querySelector('#wasm').textContent;"
            "const bytes = Uint8Array.from(atob(raw.trim()), (c) => c.charCodeAt(0));"
            "new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()"
            ".then((wasm) => { w.postMessage({ wasm }); w.onmessage = ({ data }) => done(data.answer);"
            f"w.postMessage({{ id: 1, request: {request} }}); }}); }})"
        )
        self.assertRegex(json.loads(text)["fault"], r"add\.rp\.f32")

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
        self.assertIn("step=24", self.page.run("location.hash"))

    def test_link_opens_the_same_step(self):
        state = {"lab": "scan", "task": "blelloch", "version": "solution", "block": 8, "n": 8}
        self.page.look(1440)
        self.play(**state, variant="exclusive_sum_i32", step=20)
        shown = self.panels()
        self.assertIn("Step 20", shown)
        other = self.browser.open(self.path.as_uri() + self.page.run("location.hash"))
        self.browser.seconds = 60
        for _ in range(400):
            if other.run("!document.querySelector('#player').hidden"):
                break
            other.run("new Promise((done) => setTimeout(done, 50))")
        text = other.run(
            "document.querySelector('#panels').innerText + document.querySelector('#moment').value"
        )
        self.assertEqual(text, shown)
        other.close()

    def test_typed_items_are_used_and_bad_ones_refused(self):
        state = {
            "lab": "reduction",
            "task": "sequential",
            "version": "solution",
            "variant": "sum_i32",
            "block": 8,
        }
        answer = json.loads(self.play(**state, items="typed", typed="5 6 7", n=3))
        self.assertEqual(answer["outputs"][0]["got"], ["18"])
        self.assertIn("error", json.loads(self.play(**state, items="typed", typed="5 x", n=2)))

    def test_source_has_the_chosen_size_of_blocks(self):
        state = {"lab": "reduction", "task": "sequential", "version": "solution", "variant": "sum_i32"}
        for block in (8, 64):
            self.play(**state, block=block, n=8)
            source = self.page.run("document.querySelector('#source').textContent")
            self.assertIn(f"kBlock = {block};", source)

    def test_asks_nobody_for_anything(self):
        loaded = self.page.run("performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertEqual([name for name in loaded if not name.startswith("blob:")], [])
        self.assertIn("default-src 'none'", self.path.read_text(encoding="utf-8"))

    def test_is_readable_at_all_widths_and_in_both_colours(self):
        self.play(
            lab="reduction",
            task="sequential",
            version="missing_barrier",
            variant="sum_i32",
            block=64,
            n=64,
            step=30,
        )
        for width in (360, 768, 1440):
            for dark in (False, True):
                self.page.look(width, 900, dark)
                for check in ("overflow", "contrast", "structure"):
                    complaints = self.page.run(f"({CHECKS}).{check}()")
                    self.assertEqual(complaints, [], (check, width, dark))
                if shots := os.environ.get("SCREENSHOTS"):
                    self.page.screenshot(pathlib.Path(shots) / f"play-{width}{'-dark' * dark}.png")


if __name__ == "__main__":
    if reason := why_not():
        print(f"Skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
