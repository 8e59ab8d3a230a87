#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs with the simulator's environment variables and looks at what they print and write.

usage: environment_test.py LIBRARY_FOLDER DEVICE_QUERY_PROGRAM TRANSPOSE_PROGRAM FINDINGS_PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER, QUERY, TRANSPOSE, FINDINGS = sys.argv[1:5]


def run(program, *arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIM_")}
    environment["LD_LIBRARY_PATH"] = FOLDER
    environment.update(variables)
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr


class Environment(unittest.TestCase):
    def test_the_device_can_be_chosen(self):
        code, out, _ = run(QUERY)
        self.assertEqual((code, out), (0, "ok on Simulated H200\n"))
        code, out, _ = run(QUERY, SIM_DEVICE="H100")
        self.assertEqual((code, out), (0, "ok on Simulated H100 (uncalibrated)\n"))

    def test_a_device_older_than_the_code_is_explained(self):
        code, out, err = run(QUERY, SIM_DEVICE="T4")
        self.assertEqual(code, 2, out)
        self.assertIn("no kernel image", out)
        self.assertIn("SIM_DEVICE", err)

    def test_silent_by_default(self):
        self.assertEqual(run(QUERY)[2], "")

    def test_verbose_says_once_that_this_is_no_gpu(self):
        err = run(TRANSPOSE, SIM_VERBOSE="1")[2]
        self.assertEqual(err.count("no GPU is used"), 1)
        self.assertIn("Simulated H200 (sm_90, 132 multiprocessors)", err)

    def test_explanations_can_be_silenced(self):
        loud = run(TRANSPOSE)
        quiet = run(TRANSPOSE, SIM_QUIET="1")
        self.assertIn("simulator: <<<>>>: cudaErrorInvalidValue", loud[2])
        self.assertEqual(quiet[2], "")
        self.assertEqual(quiet[:2], loud[:2])

    def test_typos_do_not_stop_a_program(self):
        code, _, err = run(QUERY, SIM_DEVICE="H2000", SIM_THREADS="all", SIM_MODE="count")
        self.assertEqual(code, 0)
        self.assertEqual(err.count("is ignored: expected"), 3)

    def test_the_report_is_written_at_exit(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            code, _, _ = run(TRANSPOSE, SIM_REPORT=path, SIM_MODE="counters")
            self.assertEqual(code, 0)
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        self.assertEqual(report["device"], "Simulated H200")
        launched = [launch["kernel"] for launch in report["launches"]]
        self.assertEqual(len(launched), 4, "the refused launch is none")
        self.assertIn("naive(float const*, float*, int, int)", launched)
        self.assertGreater(report["totals"]["global_load_sectors"], 0)
        self.assertGreater(report["modelled_us"], 0)

    def test_a_report_that_cannot_be_written_is_said(self):
        code, _, err = run(QUERY, SIM_REPORT="/nowhere/report.json")
        self.assertEqual(code, 0)
        self.assertIn("SIM_REPORT=/nowhere/report.json", err)

    def test_another_schedule_gives_the_same_results(self):
        for seed in ("1", "2", "12345"):
            self.assertEqual(run(TRANSPOSE, SIM_SCHEDULE_SEED=seed, SIM_THREADS="3")[:2], (0, "ok\n"))

    def test_checks_find_nothing_in_a_clean_program(self):
        code, _, err = run(FINDINGS, "clean", SIM_CHECK="1")
        self.assertEqual((code, err), (0, "simulator: checked: nothing found\n"))

    def test_checks_tell_what_they_find(self):
        said = {
            "race": ["global-race (racecheck) in add_up(int const*, int*), ", "findings.cu:9, 96 times"],
            "leak": ["leak (leakcheck)", "1 allocation of 100 bytes by cudaMalloc is never freed"],
            "reset": ["1 allocation of 100 bytes by cudaMalloc is never freed", "2 allocations of 256 bytes by cudaMalloc are never"],
            "heap": ["leak (leakcheck) in keep_heap(int*), ", "findings.cu:11, 2 times"],
            "twice": ["double-free (memcheck)", "was freed before"],
            "middle": ["invalid-free (memcheck)", "free the start of it"],
            "launch": ["api-error (memcheck)", "at most 1024"],
            "copy": ["uninitialised-global (initcheck)", "a copy reads 256 bytes"],
        }
        for what, words in said.items():
            code, _, err = run(FINDINGS, what, SIM_CHECK="1")
            self.assertEqual(code, 86, what + ": " + err)
            self.assertRegex(err, r"checked: [12] errors?, 0 hints\n$")
            for word in words:
                self.assertIn(word, err, what)
            self.assertNotIn("checked", run(FINDINGS, what)[2], "unless asked")
            self.assertEqual(run(FINDINGS, what)[0], 0, "unless asked")

    def test_checks_leave_a_programs_own_exit_code(self):
        self.assertEqual(run(FINDINGS, "code", SIM_CHECK="1")[0], 3)

    def test_findings_are_told_when_the_program_aborts(self):
        code, _, err = run(FINDINGS, "abort", SIM_CHECK="1")
        self.assertEqual(code, -6)
        self.assertIn("global-race", err)

    def test_findings_are_in_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            run(FINDINGS, "leak", SIM_REPORT=path, SIM_MODE="checks")
            with open(path, encoding="utf-8") as file:
                findings = json.load(file)["findings"]
        self.assertEqual([(f["checker"], f["kind"]) for f in findings], [("leakcheck", "leak")])

    def test_many_devices(self):
        self.assertEqual(run(QUERY, SIM_DEVICES="4")[0], 0)


unittest.main(argv=sys.argv[:1], verbosity=2)
