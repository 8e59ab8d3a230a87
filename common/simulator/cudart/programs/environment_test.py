#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs with the simulator's environment variables and looks at what they print and write.

usage: environment_test.py LIBRARY_FOLDER DEVICE_QUERY_PROGRAM TRANSPOSE_PROGRAM FINDINGS_PROGRAM DRIVER_PROGRAM
    TOOLKIT_LIBRARY_FOLDER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import run_program

NOTHING = "simulator: checked: nothing found\n"
FOLDER, QUERY, TRANSPOSE, FINDINGS, DRIVER, TOOLKIT = sys.argv[1:7]


def run(program, *arguments, **variables):
    return run_program.run(FOLDER, program, *arguments, **variables)


def line_of(text):
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "findings.cu"), encoding="utf-8"
    ) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


class Environment(unittest.TestCase):
    def checked(self, what, expected=86, **variables):
        """What a checked run of a program of findings.cu says."""
        code, _, err = run(FINDINGS, what, SIM_CHECK="1", **variables)
        self.assertEqual(code, expected, f"{what}: {err}")
        return err

    def reported(self, what, **variables):
        """What it says, and the findings of its report."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
            err = run(FINDINGS, what, SIM_REPORT=file.name, **variables)[2]
            return err, json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["findings"]

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
        self.assertRegex(
            loud[2], "simulator: (<<<>>>|cudaLaunchKernel): cudaErrorInvalidValue"
        )  # CUDA 12 says the latter
        self.assertEqual(quiet[2], "")
        self.assertEqual(quiet[:2], loud[:2])

    def test_a_missing_driver_function_is_named_once(self):
        code, out, err = run(DRIVER)
        self.assertEqual((code, out), (0, "ok\n"), err)
        self.assertEqual(err.count("cuNoSuchFunction: the simulator does not have this function"), 1)
        self.assertEqual(run(DRIVER, SIM_QUIET="yes")[2], "")

    def test_a_static_runtime_is_explained_first_and_the_rest_counted(self):
        # The requests of a program that has NVIDIA's runtime linked into it; a toolkit of wheels can't link
        # one.
        names = ["", *(f"cuMissing{i}" for i in range(150)), "cuGetExportTable", "cuMissing3", "cuMissingToo"]
        script = f"""if True:
            import ctypes
            driver, entry = ctypes.CDLL({FOLDER + "/libcuda.so.1"!r}), ctypes.c_void_p()
            for name in {names!r}:
                assert driver.cuGetProcAddress_v2(name.encode(), ctypes.byref(entry), 13000, ctypes.c_uint64(0), None) == 500"""
        code, _, err = run(sys.executable, "-c", script)
        lines = err.splitlines()
        self.assertEqual((code, len(lines)), (0, 2), err)
        self.assertEqual(run(sys.executable, "-c", script, SIM_CHECK="1")[0], 86, "nothing was checked")
        self.assertIn("-cudart shared", lines[0])
        self.assertIn("151 functions", lines[1])

    @unittest.skipIf(not shutil.which("cc"), "needs a C compiler")
    def test_a_library_with_its_own_runtime_is_named(self):
        looks_up = (
            "void* dlopen(const char*, int); void* dlsym(void*, const char*);\n"
            'int use(void) { void* d = dlopen("libcuda.so.1", 2); return d != 0 && dlsym(d, "cuNoSuchFunction") != 0; }'
        )
        with tempfile.TemporaryDirectory() as folder:
            for name, code in (("libcufake.so.12", 86), ("libnvidia-fake.so.1", 0), ("libother.so", 0)):
                path = os.path.join(folder, name)
                command = ["cc", "-x", "c", "-shared", "-fPIC", "-o", path, "-"]
                subprocess.run(command, input=looks_up, text=True, check=True)
                done = run(sys.executable, "-c", f"import ctypes; assert ctypes.CDLL({path!r}).use() == 0")
                self.assertEqual(done[0], code, done)
                self.assertEqual(
                    "libcufake.so.12 contains a CUDA runtime of its own" in done[2], code == 86, done[2]
                )

    @unittest.skipIf(not TOOLKIT, "the toolkit's libraries lie where the loader finds them")
    def test_nvidias_runtime_with_the_simulators_driver_is_explained(self):
        code, out, err = run(QUERY, LD_LIBRARY_PATH=f"{TOOLKIT}:{FOLDER}")
        self.assertGreater(code, 0, out)
        self.assertIn("the libcudart that is loaded is NVIDIA's", err)
        self.assertLess(len(err.splitlines()), 10)

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
        self.assertEqual(self.checked("clean", 0), NOTHING)

    def test_checks_tell_what_they_find(self):
        in_sum, in_heap = line_of("*out += in"), line_of("malloc(16)")
        said = {
            "race": [
                "global-race (racecheck) in add_up(int const*, int*), ",
                f"findings.cu:{in_sum}, 96 times",
            ],
            "leak": ["leak (leakcheck)", "1 allocation of 100 bytes by cudaMalloc is never freed"],
            "reset": [f"1 allocation of {n} bytes by cudaMalloc is never freed" for n in (100, 256)],
            "heap": ["leak (leakcheck) in keep_heap(int*), ", f"findings.cu:{in_heap}, 2 times"],
            "twice": ["double-free (memcheck)", "was freed before"],
            "middle": ["invalid-free (memcheck)", "free the start of it"],
            "launch": ["api-error (memcheck)", "at most 1024"],
            "copy": ["uninitialised-global (initcheck)", "a copy reads 256 bytes"],
        }
        for what, words in said.items():
            err = self.checked(what)
            self.assertRegex(err, r"checked: [12] errors?, 0 hints\n$")
            for word in words:
                self.assertIn(word, err, what)
            self.assertNotIn("checked", run(FINDINGS, what)[2], "unless asked")
            self.assertEqual(run(FINDINGS, what)[0], 0, "unless asked")

    def test_grid_sync_asks_for_a_cooperative_launch(self):
        err = self.checked("grid")
        self.assertIn("not-cooperative (execution) in wait_for_all(int*), ", err)
        self.assertIn(f"findings.cu:{line_of('this_grid().sync()')}\n", err)
        self.assertIn("cudaLaunchCooperativeKernel", err)

    def test_no_leaks_are_told_after_a_fault(self):
        err = self.checked("fault")
        self.assertIn("out-of-bounds (memcheck)", err)
        self.assertNotIn("leak", err)

    def test_checks_leave_a_programs_own_exit_code(self):
        self.checked("code", 3)

    def test_one_cause_is_one_error(self):
        err = self.checked("lines")
        line = line_of("out[0] = in[0]")
        self.assertIn(f"findings.cu:{line}\n", err)
        self.assertIn(f"at 2 other lines: {line + 1}, {line + 2}\n", err)
        self.assertIn("checked: 1 error, 0 hints", err)

    def test_a_finding_has_four_lines_of_100_columns(self):
        for what in ("race", "lines", "copy", "grid", "rounds", "capture"):
            err = self.checked(what, SIM_VERBOSE="0")
            self.assertNotIn("(int", err, "parameters take the place of what is said last")
            findings = re.split(r"^simulator: error: ", err, flags=re.M)[1:]
            findings[-1] = findings[-1].split("simulator: checked:")[0].split("simulator: not checked:")[0]
            for finding in findings:
                lines = finding.splitlines()
                self.assertLessEqual(len(lines), 4, err)
                self.assertLessEqual(max(map(len, lines)), 100, err)

    def test_rounds_of_a_loop_are_one_finding(self):
        err, findings = self.reported("rounds", SIM_CHECK="1")
        self.assertEqual([(f["kind"], f["times"]) for f in findings], [("api-error", 6)])
        self.assertIn("6 times", err)
        self.assertIn("checked: 1 error,", err)

    def test_calls_that_fail_after_a_failed_capture_are_no_errors_of_their_own(self):
        err, findings = self.reported("capture", SIM_CHECK="1")
        self.assertIn("checked: 1 error, 0 hints", err)
        self.assertIn("therefore, 5 later calls failed", err)
        self.assertEqual([f["times"] for f in findings if f["kind"] == "consequence"], [1, 1, 1, 2], findings)

    def test_version_and_help(self):
        cusan = os.path.join(FOLDER, "..", "cusan")
        for argument, said in (
            ("--version", r"cusan \d+\.\d+"),
            ("--help", "usage: cusan .*(\n.*)*cusan -v"),
        ):
            done = subprocess.run(["bash", cusan, argument], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, said)

    def test_lost_updates_are_found_or_said_not_to_be_looked_for(self):
        cases = {
            "total": (86, "error: lost-update", "total = total +"),
            "most": (0, "hint: lost-update", "mine > s_most"),
        }
        for what, (expected, said, line) in cases.items():
            err = self.checked(what, expected)
            self.assertIn(said, err)
            self.assertIn(f"findings.cu:{line_of(line)}", err)
        for variables, why in (
            ({}, "in cooperative mode: lost updates between blocks"),
            ({"SIM_MODE": "counters"}, "with counters: lost updates"),
        ):
            err = self.checked("together", 0, **variables)
            self.assertIn(f"not checked: 1 launch {why}\n", err)
        self.assertEqual(run(FINDINGS, "together")[2], "")

    def test_findings_are_told_when_the_program_aborts(self):
        for what, code in (("abort", -6), ("divides", -8)):
            self.assertIn("global-race", self.checked(what, code))

    def test_a_program_without_kernels_is_not_called_checked(self):
        self.assertEqual(
            self.checked("nothing", 0),
            "simulator: not checked: kernels, since none was launched\n"
            "simulator: checked: nothing found in what was checked\n",
        )

    def test_findings_are_in_the_report(self):
        _, findings = self.reported("leak", SIM_MODE="checks")
        self.assertEqual([(f["checker"], f["kind"]) for f in findings], [("leakcheck", "leak")])

    def test_one_command_checks_a_program_or_a_source_file(self):
        here = os.path.dirname(os.path.abspath(__file__))

        def sanitize(*arguments):
            environment = os.environ | {
                "LAB_BUILD": os.path.realpath(os.path.join(FOLDER, "../../..")),
                "LAB_ROOT": os.path.realpath(os.path.join(here, "../../../..")),
            }
            command = ["bash", os.path.join(here, "../../../tools/sanitize.sh"), *arguments]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=100, check=False
            )
            return done.returncode, done.stderr

        self.assertEqual(sanitize(FINDINGS, "clean"), (0, NOTHING))
        self.assertEqual(sanitize(FINDINGS, "leak")[0], 86)
        for what, found in ("leaves", ""), ("forks", NOTHING):
            lost = (
                "cusan: not checked: what 1 process(es) did that ended by _exit, a signal or exec, "
                "without their findings\n"
            )
            self.assertEqual(sanitize(FINDINGS, what), (0, found + lost))
        self.assertEqual(sanitize(FINDINGS, "code")[0], 3)
        code, err = sanitize("/bin/true")
        self.assertEqual(code, 2)
        self.assertIn("-cudart shared", err)
        self.assertEqual(sanitize("no_such.cu"), (2, "lab: there is no file no_such.cu\n"))
        if not shutil.which(os.environ.get("NVCC", "nvcc")):
            return
        self.assertEqual(sanitize(os.path.join(here, "findings.cu"), "race", "--", "-DANYTHING")[0], 86)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.cu")

            def sanitize_text(text, *options):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                return sanitize(path, "--", *options)

            code, err = sanitize_text(
                "__global__ void k(int* p) { cudaMemsetAsync(p, 0, 4, 0); }\n"
                "int main() { k<<<1, 1>>>(nullptr); cudaDeviceSynchronize(); }\n",
                "-rdc=true",
            )
            self.assertEqual(code, 86, err)
            self.assertIn("not-simulated", err)
            self.assertIn("program.cu:1", err)
            code, err = sanitize_text(
                "int main() { cudaMipmappedArray_t all{}; cudaArray_t one; cudaGetMipmappedArrayLevel(&one, all, 0); }\n"
            )
            self.assertEqual(code, 86, err)
            self.assertIn("cudaGetMipmappedArrayLevel", err)

            keeps = (
                "for (int k = 0; k < 100; ++k) v[k] = p[k * 32]; for (int k = 0; k < 10; ++k) for (int j = 0; j < 100; ++j)"
                " v[j] = v[j] * v[(j + 1) % 100] + v[(j + 7) % 100]; for (int k = 0; k < 100; ++k) p[k] = v[k];"
            )
            code, err = sanitize_text(
                "__global__ void k(float* p) {{ float v[100]; {} }}".format(
                    keeps.replace("for", "\n#pragma unroll\nfor")
                )
                + "\nint main() { k<<<1, 1024>>>(nullptr); }"
            )
            self.assertEqual(code, 86, err)
            self.assertIn("cudaErrorLaunchOutOfResources", err)
            code, err = sanitize_text(
                "int main() { return STANDARD < 202002L ? 3 : 4; }", "-DSTANDARD=__cplusplus", "-std=c++17"
            )
            self.assertEqual(code, 3, err)
            code, err = sanitize_text("int main() { int* d; cudaMalloc(&d, 4); return *d; }")
            self.assertEqual(code, 139, err)
            ended = "lab: exit code 139: SIGSEGV ended the program, unless it returned this number\n"
            self.assertRegex(
                err, "host-access(.*\n)+simulator: not checked: kernels, since none was launched\n"
            )
            self.assertIn("simulator: checked: 1 error, 0 hints\n", err)
            self.assertTrue(err.endswith(ended), err)
            code, err = sanitize_text("int main() { int* volatile p = nullptr; cudaFree(0); return *p; }")
            self.assertEqual(code, 139, err)
            self.assertTrue(err.endswith(ended), err)
            code, err = sanitize_text("__device__ int total; int main() { return total; }")
            self.assertEqual(code, 0, err)
            self.assertIn("not checked: host code reads or writes __device__ variables", err)
            code, err = sanitize_text("int main() { static char c[4096]; cudaHostRegister(c, 4096, 0); }")
            self.assertEqual(code, 0, err)
            self.assertIn(
                "not checked: whether host code waits before it uses memory of cudaHostRegister", err
            )
            self.assertIn("checked: nothing found in what was checked", err)
            code, err = sanitize_text("""#include <nccl.h>
                int main() {
                  ncclComm_t c[2];
                  int device[] = {0, 1}, *p = nullptr;
                  if (ncclCommInitAll(c, 2, device) != ncclSuccess) return 1;
                  cudaSetDevice(1);
                  cudaMalloc(&p, 4);
                  ncclSend(p, 1, ncclInt, 0, c[1], nullptr);
                  return cudaStreamSynchronize(nullptr) == cudaSuccess ? 2 : 0;
                }""")
            self.assertEqual(code, 86, err)
            self.assertIn("nccl-deadlock", err)

    def test_findings_of_all_devices_are_in_order(self):
        err = run(FINDINGS, "event", SIM_CHECK="1", SIM_DEVICES="2")[2]
        self.assertLess(err.index("api-error"), err.index("stream-race"), err)

    def test_many_devices(self):
        self.assertEqual(run(QUERY, SIM_DEVICES="4")[0], 0)


unittest.main(argv=sys.argv[:1], verbosity=2)
