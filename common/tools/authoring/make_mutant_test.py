#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of make_mutant.py: python3 -m unittest, from this folder."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_mutant as m

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "grader/play"))
import make_versions

SOLUTION = """//@student gone
int a(int x) {
  return x + 1;
}

template <typename T>
int long_one(int first,
             int second) {
  return x + 1;
}

int solve(Rung rung) {
  switch (rung) {
    case Rung::a: return a();
    case Rung::b: return b();
  }
}
"""
HEADER = "// SPDX-License-Identifier: MIT\n// about: x\n// task: a\n// verdict: OK\n"
CHANGE = "//--- replace\nx + 1\n//--- with\nx + 2\n//--- end\n"


class Mutant(unittest.TestCase):
    def mutate(self, text):
        _, changes = m.parse(text, "x.mutant")
        return m.apply(SOLUTION, changes, "x.mutant")

    def test_reads_the_header(self):
        header, _ = m.parse(HEADER + "// says: one\n// says: two\n" + CHANGE, "x")
        self.assertEqual(header["says"], ["one", "two"])
        self.assertEqual(header["task"], ["a"])

    def test_changes_one_function_alone(self):
        for function in ("a", "long_one"):
            changed = self.mutate(HEADER + f"//--- in {function}\n" + CHANGE)
            self.assertEqual(changed.count("x + 2"), 1)
            self.assertEqual(changed.count("x + 1"), 1)
            self.assertEqual(changed.index("x + 2") > changed.index("long_one"), function == "long_one")
            self.assertNotIn("//@", changed)

    def test_refuses_text_that_is_not_there_exactly_once(self):
        with self.assertRaisesRegex(m.MutantError, "occurs 2 times in the solution"):
            self.mutate(HEADER + CHANGE)
        with self.assertRaisesRegex(m.MutantError, "occurs 0 times in solve"):
            self.mutate(HEADER + "//--- in solve\n" + CHANGE)
        with self.assertRaisesRegex(m.MutantError, "0 functions nowhere"):
            self.mutate(HEADER + "//--- in nowhere\n" + CHANGE)

    def test_keeps_one_task(self):
        self.assertNotIn("Rung::b", m.only_task(SOLUTION, "a", "x"))
        with self.assertRaisesRegex(m.MutantError, "no task c"):
            m.only_task(SOLUTION, "c", "x")

    def test_each_copy_has_a_namespace_of_its_own(self):
        lab, copy = m.in_namespace(
            "namespace course::scan {\nint a;\n}  // namespace course::scan\n", "m_x", "x"
        )
        self.assertEqual(lab, "scan")
        self.assertTrue(copy.startswith("namespace course::scan::m_x {\nint a;\n"))
        twice = "namespace course::scan {\n}\n" * 2  # with a header of its folder written out
        self.assertEqual(m.in_namespace(twice, "m_x", "x")[1].count("namespace course::scan::m_x {"), 2)
        with self.assertRaisesRegex(m.MutantError, "opens 0 namespaces"):
            m.in_namespace(SOLUTION, "m_x", "x")

    def test_a_program_answers_as_the_copy_it_is_named_after(self):
        text = m.chooser("scan", ["x", "y"])
        for name in ("x", "y"):
            self.assertIn(
                f'if (std::strcmp(name, "mutant_scan_{name}") == 0) return m_{name}::run(request);', text
            )

    def test_a_copy_for_a_page_has_each_header_of_its_lab_once(self):
        with tempfile.TemporaryDirectory() as folder:
            solution = pathlib.Path(folder, "scan/scan.cu")
            solution.parent.mkdir()
            for name, text in {"a": "int a;\n", "b": '#include "scan/a.cuh"\nint b;\n'}.items():
                solution.with_name(f"{name}.cuh").write_text(text)
            text = '#include "scan/lab.hpp"\n#include "scan/a.cuh"  // why\n#include "scan/b.cuh"\n'
            whole = make_versions.with_own_headers(text, solution)
            self.assertEqual(whole, '#include "scan/lab.hpp"\nint a;\nint b;\n')

    def test_checks_every_mutant_of_a_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in ("solutions/scan", "grader/mutants/scan"):
                (root / path).mkdir(parents=True)
            (root / "solutions/scan/scan.cu").write_text("namespace course::scan {\n" + SOLUTION + "}\n")
            mutant = root / "grader/mutants/scan/x.mutant"
            for text, answer in [
                (HEADER + "//--- in a\n" + CHANGE, "^0$"),
                (HEADER + CHANGE, "^scan: x.mutant: this occurs 2 times"),
            ]:
                mutant.write_text(text)
                with self.assertRaises(SystemExit) as ended:
                    m.check(root)
                self.assertRegex(str(ended.exception.code), answer)

    def test_names_the_line_of_an_error(self):
        for text, what in [
            ("// abuot: x\n", "x:1: unknown key"),
            (HEADER + "stray\n", "x:5: neither"),
            (HEADER + "//--- with\n", "x:5: .*out of place"),
            (HEADER + "//--- replace\n", "no //--- end"),
            (HEADER, "changes nothing"),
            ("// about: x\n// task: a\n" + CHANGE, "verdict"),
        ]:
            with self.assertRaisesRegex(m.MutantError, what):
                m.parse(text, "x")


if __name__ == "__main__":
    unittest.main()
