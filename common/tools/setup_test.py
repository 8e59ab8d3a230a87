#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./lab doctor and ./lab setup say on machines that lack something: run on a PATH of stand-ins.

usage: setup_test.py      from anywhere; changes nothing outside of a temporary folder
"""

import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
# The scripts use these as they are.
REAL = (
    "bash cat awk basename cmp cp cut date df dirname env find grep head id ln ls mkdir mv nproc paste printf readlink rm sed sleep "
    "sort stat tail touch tr uname wc"
).split()


class Machine(unittest.TestCase):
    """A good machine, from which each test takes something away: all libraries, g++ 12, nvcc 13.0, no GPU, no network."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.dir.chmod(0o755)
        (self.dir / "bin").mkdir()
        shutil.copytree(TOOLS, self.dir / "common/tools")
        for name in REAL:
            (self.dir / "bin" / name).symlink_to(shutil.which(name))
        self.program("g++", 'case $1 in --version) echo "Free Software";; *) echo 12.2.0;; esac')
        self.program("nvcc", 'echo "release 13.0, V13.0.88"')
        self.program("pkg-config", "[ $1 = --exists ] && exit 0; echo 1.0")
        self.program("bwrap", "exit 0")
        self.program("meson", "echo 1.9.1")
        self.program("ninja", "echo 1.11.1")
        # A Python whose environments can be made and reach no index.
        self.program("python3", 'case "$*" in "-c "*) ;; "-m venv"*) mkdir -p $3/bin; cp "$0" $3/bin/python;; *pip*) echo "Network is unreachable"; exit 1;; esac')

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text):
        path = self.dir / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def without(self, *names):
        for name in names:
            (self.dir / "bin" / name).unlink()

    def run_tool(self, tool, root=True, **environment):
        """Output and exit status; root=False: as somebody who may not install anything."""
        variables = {
            "PATH": str(self.dir / "bin"), "HOME": str(self.dir), "LAB_ROOT": str(self.dir), "LAB_BUILD": str(self.dir / "build"),
            "LAB_VENV": str(self.dir / "venv"), "SYSTEM_CUDA": "/nowhere", **environment,
        }  # fmt: skip
        user = {}
        if not root and os.geteuid() == 0:
            for path in [self.dir, *self.dir.rglob("*")]:
                os.chown(path, 65534, 65534, follow_symlinks=False)
            user = {"user": 65534, "group": 65534, "extra_groups": []}
        script = self.dir / f"common/tools/{tool}.sh"
        done = subprocess.run([shutil.which("bash"), script], capture_output=True, text=True, env=variables, stdin=subprocess.DEVNULL, **user)
        return done.stdout + done.stderr, done.returncode


class OthersCheckout(unittest.TestCase):
    def test_says_whose_it_is_and_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            checkout = pathlib.Path(folder)
            checkout.chmod(0o755)
            shutil.copytree(TOOLS, checkout / "common/tools")
            shutil.copy(TOOLS.parents[1] / "lab", checkout)
            (checkout / "build").mkdir()
            (checkout / "build").chmod(0o555)
            somebody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
            variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
            done = subprocess.run(["bash", checkout / "lab", "list"], env=variables, capture_output=True, text=True, cwd="/", **somebody)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"You may not write to {checkout}/build, which belongs to", done.stderr)
        self.assertIn("LAB_BUILD=", done.stderr)
        self.assertEqual(done.stdout, "")


class Progress(Machine):
    """step.sh on a terminal, and without one."""

    def logged(self, *command):
        """What stands in a log, with a line a second."""
        program = f'set -euo pipefail; LAB_BUILD={self.dir}/build; source {self.dir}/common/tools/step.sh; progress_every=1; step --quiet "Doing it" "$@"'
        done = subprocess.run(["bash", "-c", program, "step", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        return done.stderr

    def test_a_longer_step_shows_how_far_it_is_without_a_terminal(self):
        text = self.logged("bash", "-c", "echo [3/9] Compiling; sleep 2.7")
        self.assertRegex(text, r"(?m)^lab: Doing it \(\d+ s\) \[3/9\] Compiling\n(.*\n)*lab: Doing it: done \(\d+ s\)\n$")
        self.assertNotIn("\r", text)
        self.assertEqual(self.logged("true"), "")

    def test_nothing_outlives_a_step(self):
        """A progress that still slept would keep a pipe open, and the lock of the build."""
        program = f"""set -euo pipefail; LAB_BUILD={self.dir}/build; source {self.dir}/common/tools/step.sh; sleep() {{ command sleep 30; }}
            exec {{lock}}>"$LAB_BUILD.lock"; flock "$lock"; step --quiet "Doing it" bash -c "command sleep 0.2"; exec {{lock}}>&-; flock -n "$LAB_BUILD.lock" echo free"""
        done = subprocess.run(["bash", "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.stdout, "free\n", done.stderr)

    def seen(self, *command):
        """What a terminal shows of a step."""
        screen, terminal = pty.openpty()
        program = f'set -euo pipefail; LAB_BUILD={self.dir}/build; source {self.dir}/common/tools/step.sh; step --quiet "Doing it" "$@"'
        subprocess.run(["bash", "-c", program, "step", *command], stdin=terminal, stdout=terminal, stderr=terminal, check=False)
        os.close(terminal)
        text = b""
        try:
            while part := os.read(screen, 4096):
                text += part
        except OSError:  # a terminal that nobody holds any more
            pass
        os.close(screen)
        return text.decode()

    def test_a_short_step_shows_nothing(self):
        self.assertEqual(self.seen("true").replace("\r\x1b[K", ""), "")

    def test_a_longer_step_shows_how_far_it_is(self):
        text = self.seen("bash", "-c", "echo [3/9] Compiling; sleep 1.7")
        self.assertRegex(text, r"lab: Doing it \(\d+ s\) \[3/9\] Compiling")
        self.assertNotIn("unbound", text)


class Failure(Machine):
    """What step.sh says when a build fails: at most ten lines, for somebody who sees that for the first time."""

    def said(self, script, **environment):
        program = f'set -euo pipefail; source {self.dir}/common/tools/step.sh; LAB_LOG=$LAB_BUILD/lab-build.log; step --quiet Building bash -c "$1"'
        variables = {"PATH": f"{self.dir}/bin", "LAB_ROOT": str(self.dir), "LAB_BUILD": str(self.dir / "build"), **environment}
        done = subprocess.run([shutil.which("bash"), "-c", program, "step", script], capture_output=True, text=True, env=variables, stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertLessEqual(len(lines), 10, done.stderr)
        self.assertEqual([line for line in lines if len(line) > 300], [])
        if "your own file" not in done.stderr:
            self.assertIn(str(self.dir / "build/lab-build.log"), done.stderr)
        return done.stderr

    def test_a_real_compilers_error(self):
        # A header's mistake behind many templates, with a warning before it.
        (self.dir / "common/wrong.hpp").write_text("template <int N> struct A { A<N - 1> a; };\ntemplate <> struct A<0> { Nothing a; };\n")
        (self.dir / "common/wrong.cpp").write_text('#include "wrong.hpp"\nint unused() { int x; return 0; }\nA<30> a;\n')
        (self.dir / "build").mkdir()
        text = self.said(f"cd {self.dir}/build && {shutil.which('g++')} -Wall -fdiagnostics-color=always -c ../common/wrong.cpp", PATH=f"{self.dir}/bin:/usr/bin:/bin")
        self.assertIn("stopped at common/wrong.hpp, line 2:", text)
        self.assertIn("Nothing", text)
        self.assertIn("a fault of the course, not of your code", text)
        self.assertIn("send this file to your instructor", text)

    def test_a_warning_in_a_library_names_our_file(self):
        text = self.said("""
            echo 'FAILED: grader/libgrader.a.p/grader-unity0.cpp.o'
            echo 'In file included from /usr/include/fmt/format.h:48,'
            echo '                 from ../grader/report/result.cpp:4:'
            echo '/usr/include/fmt/core.h:1761:3: error: array subscript 3 is outside array bounds [-Werror=array-bounds]'
            for i in {1..9999}; do echo "note: template $i of a page of templates that nobody can read"; done
            echo 'cc1plus: all warnings being treated as errors'; exit 1""")
        self.assertIn("stopped at /usr/include/fmt/core.h, line 1761 (included by grader/report/result.cpp):", text)
        self.assertIn("a fault of the course", text)

    def test_the_students_own_file(self):
        text = self.said("echo '../labs/scan/scan.cu(12): error: expected a \";\"'; exit 2")
        self.assertIn("stopped at labs/scan/scan.cu, line 12:", text)
        self.assertIn("your own file", text)
        self.assertNotIn("fault of the course", text)

    def test_a_missing_header(self):
        text = self.said("echo '../grader/a.cpp:3:10: fatal error: fmt/format.h: No such file or directory'; exit 1")
        self.assertIn("stopped at grader/a.cpp, line 3:", text)
        self.assertIn("./lab doctor", text)
        self.assertNotIn("fault of the course", text)

    def test_what_meson_misses(self):
        text = self.said("echo 'meson.build:93:2: ERROR: Dependency \"stb\" not found'; exit 1")
        self.assertIn('Dependency "stb" not found', text)
        self.assertIn("./lab doctor", text)

    def test_a_full_disk_and_memory(self):
        self.assertIn("disk is full", self.said("echo 'a.s: fatal error: error writing to b.o: No space left on device'; for i in {1..9999}; do echo and a long line after it; done; exit 1"))
        self.assertIn("memory is used up", self.said("echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1"))

    def test_a_failure_without_a_reason(self):
        text = self.said("echo something odd; exit 3")
        self.assertIn("something odd", text)
        self.assertIn("./lab doctor", text)

    def test_another_compiler_is_offered(self):
        self.program("g++-13", "exit 0")
        self.assertIn("CXX=g++-13 ./lab", self.said("echo '../common/a.cpp:1:1: error: no'; exit 1"))


class Warnings(Machine):
    def test_warnings_are_errors_on_request_alone(self):
        self.program("meson", 'case $1 in --version) echo 1.9.1;; *) echo "$@" >>$LAB_BUILD/asked; touch $LAB_BUILD/build.ninja;; esac')
        self.assertEqual(self.run_tool("setup")[1], 0)
        asked = self.dir / "build/asked"
        self.assertNotIn("werror", asked.read_text())
        self.assertEqual(self.run_tool("setup", LAB_WERROR="1")[1], 0)
        self.assertIn("-Dwerror=true", asked.read_text())
        text, status = self.run_tool("setup", LAB_WERROR="yes")
        self.assertEqual(status, 1)
        self.assertIn('LAB_WERROR is "yes"', text)


class Processor(Machine):
    """The simulator is built for the instruction sets of the machines that use the build folder."""

    FLAGS = {
        "portable": "fpu sse2", "avx2": "avx2 fma bmi1 bmi2 abm popcnt f16c",
        "avx512": "avx2 fma bmi1 bmi2 abm popcnt f16c avx512f avx512dq avx512vl avx512bw avx512cd",
    }  # fmt: skip

    def cpuinfo(self, isa):
        path = self.dir / f"cpuinfo-{isa}"
        path.write_text(f"processor\t: 0\nflags\t\t: {self.FLAGS[isa]}\n")
        return str(path)

    def test_the_best_one_is_found(self):
        for isa in self.FLAGS:
            self.assertEqual(self.run_tool("host_isa", CPUINFO=self.cpuinfo(isa)), (isa + "\n", 0))
        self.assertEqual(self.run_tool("host_isa", CPUINFO="/nowhere"), ("portable\n", 0))

    def test_another_machine_is_added(self):
        self.program("meson", 'case $1 in --version) echo 1.9.1;; *) echo "$@" >>$LAB_BUILD/asked; touch $LAB_BUILD/build.ninja;; esac')
        for isa, wanted in [("avx512", "avx512"), ("avx2", "avx2,avx512"), ("avx512", "avx2,avx512")]:
            self.assertEqual(self.run_tool("setup", CPUINFO=self.cpuinfo(isa))[1], 0)
            self.assertIn(f"-Dsimulator_isas={wanted} ", (self.dir / "build/asked").read_text().splitlines()[-1])
            self.assertIn(f"STAMP_ISAS={wanted}\n", (self.dir / "build/.lab-stamp").read_text())


class Doctor(Machine):
    def test_a_good_machine_lacks_nothing(self):
        self.program("df", "printf 'x\\nfs 1 1 9999 1%% /\\n'")
        text, status = self.run_tool("doctor")
        self.assertEqual(status, 0, text)
        self.assertIn("Everything that is needed is here", text)

    def test_the_table_fits_a_terminal(self):
        for root in [self.dir / "build", self.dir / ("long" * 20)]:
            table = self.run_tool("doctor", LAB_BUILD=str(root))[0].split("\n\n")[0].splitlines()
            self.assertGreater(len(table), 10)
            self.assertEqual([line for line in table if len(line) > 80 and str(root) not in line], [])
            self.assertEqual([line for line in table if line != line.rstrip()], [])
            self.assertTrue(any(line.endswith(str(root)) or str(root) + " " in line for line in table))

    def test_cuda_11(self):
        self.program("nvcc", 'echo "release 11.8, V11.8.89"')
        text, status = self.run_tool("doctor")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"MISSING +CUDA toolkit +[^ ]+\s+11\.8 +nvcc 12 or later")
        self.assertIn('"./lab setup" fetches it', text)

    def test_an_old_compiler(self):
        self.program("g++", "echo 11.4.0")
        text, status = self.run_tool("doctor")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"MISSING +C\+\+ compiler +11\.4\.0 +g\+\+ 12 to")

    def test_a_gpu_without_a_driver(self):
        self.program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
        text, _ = self.run_tool("doctor")
        self.assertIn("reaches no GPU", text)
        self.assertIn("check the driver: nvidia-smi", text)

    def test_a_driver_that_is_too_old_for_the_toolkit(self):
        self.program("nvidia-smi", "echo 'NVIDIA A100, 8.0, 535.104.05'")
        text, _ = self.run_tool("doctor")
        self.assertIn("runs CUDA 12 only", text)
        self.assertIn("LAB_CUDA=12 ./lab setup", text)
        self.program("nvidia-smi", "echo 'NVIDIA H200, 9.0, 580.159.03'")
        self.assertNotIn("LAB_CUDA", self.run_tool("doctor")[0])

    def test_a_full_disk(self):
        self.program("df", "printf 'x\\nfs 1 1 100 99%% /\\n'")
        text, status = self.run_tool("doctor")
        self.assertEqual(status, 1)
        self.assertRegex(text, "MISSING +Disk +100 MiB free")

    def test_a_read_only_checkout(self):
        text, status = self.run_tool("doctor", root=False, LAB_BUILD="/proc/build")
        self.assertEqual(status, 1)
        self.assertIn("read-only", text)
        self.assertIn("LAB_BUILD=~/lab-build", text)

    def test_lab_cuda_chooses_among_toolkits(self):
        text, status = self.run_tool("doctor", LAB_CUDA="12")
        self.assertEqual(status, 1)
        self.assertRegex(text, "MISSING +CUDA toolkit")


class Setup(Machine):
    def fails(self, *told, **how):
        text, status = self.run_tool("setup", **how)
        self.assertEqual(status, 1, text)
        for words in told:
            self.assertIn(words, text)
        return text

    def test_no_root_and_no_compiler(self):
        self.without("g++")
        self.program("apt-get", "exit 1")
        self.fails("sudo apt-get install -y g++\n", root=False)

    def test_no_root_and_an_old_compiler(self):
        self.program("g++", "echo 11.4.0")
        self.program("apt-get", "exit 1")
        self.fails("sudo apt-get install -y g++-12\n", root=False)

    def toolkit(self, release, newest_gcc):
        """An nvcc as installed toolkits have it, with the header in which it says what it takes."""
        home = self.dir / f"cuda-{release}"
        for folder in ["bin", "include/crt"]:
            (home / folder).mkdir(parents=True)
        (home / "include/crt/host_config.h").write_text(f"#if __GNUC__ > {newest_gcc}\n#error -- unsupported GNU version!\n#endif\n")
        (home / "bin/nvcc").write_text(f'#!/bin/bash\necho "release {release}, V{release}.1"\n')
        (home / "bin/nvcc").chmod(0o755)
        return str(home)

    def gcc(self, name, major):
        self.program(name, f'case $1 in --version) echo "Free Software";; *) echo {major}.1.0;; esac')

    def test_nvcc_says_which_compiler_is_too_new(self):
        self.gcc("g++", 16)
        self.program("apt-get", "exit 1")
        self.program("apt-cache", "[ $2 = g++-15 ] || [ $2 = g++-14 ]")
        self.fails("sudo apt-get install -y g++-15\n", root=False, CUDA_HOME=self.toolkit("13.0", 15))
        self.fails("sudo apt-get install -y g++-14\n", root=False, CUDA_HOME=self.toolkit("12.9", 14))
        self.assertNotIn("g++", self.run_tool("setup", root=False, CUDA_HOME=self.toolkit("13.4", 16))[0])

    def test_takes_another_compiler_where_the_first_is_too_new(self):
        self.gcc("g++", 16)
        self.gcc("g++-14", 14)
        text, _ = self.run_tool("doctor", CUDA_HOME=self.toolkit("13.0", 15))
        self.assertRegex(text, r"ok +C\+\+ compiler +[^ ]+/g\+\+-14 +g\+\+ 12 to 15\s+14\.1\.0")

    def test_a_compiler_asked_for_that_nvcc_refuses(self):
        self.gcc("g++-14", 14)
        text, _ = self.run_tool("setup", CXX="g++-14", CUDA_HOME=self.toolkit("12.4", 13))
        self.assertRegex(text, r"CXX is g\+\+-14, but nvcc 12\.4 takes g\+\+ 12 to 13: going on with [^ ]+/g\+\+\.\n")
        self.gcc("g++", 14)
        self.program("apt-get", "exit 1")
        self.fails("sudo apt-get install -y g++-12\n", root=False, CXX="g++-14", CUDA_HOME=self.toolkit("12.5", 13))

    def test_clang_compiles_the_host_code_and_gxx_stays_with_nvcc(self):
        self.program("clang++-19", 'echo "Debian clang version 19.1.7"')
        text, _ = self.run_tool("setup", CXX="clang++-19", CUDA_HOME=self.toolkit("13.0", 15))
        self.assertNotIn("CXX", text)
        native = (self.dir / "build/lab-native.ini").read_text()
        self.assertIn(f"cpp = ['{self.dir}/bin/clang++-19']\n", native)
        self.assertIn(f"'-ccbin', '{self.dir}/bin/g++']", native)

    def test_a_c_library_that_a_toolkit_does_not_know(self):
        self.program("getconf", "echo glibc 2.41")
        self.fails("CUDA 12 does not compile with this system's C library, glibc 2.41", "LAB_CUDA=13 ./lab", LAB_CUDA="12")
        self.program("getconf", "echo glibc 2.43")
        self.fails("CUDA 13.1 does not compile", LAB_CUDA="13.1")
        self.without("nvcc")
        self.fails("Fetching the CUDA 13.5 toolkit", CUDA_HOME=self.toolkit("13.0", 15))
        self.fails("Fetching the CUDA 13.5 toolkit", LAB_CUDA="13")

    def test_an_older_driver_where_cuda_12_does_not_compile(self):
        self.without("nvcc")
        self.program("getconf", "echo glibc 2.41")
        self.program("nvidia-smi", "echo 'NVIDIA A100, 8.0, 535.104.05'")
        self.fails("Fetching the CUDA 13 toolkit")

    def test_no_root_and_another_distribution(self):
        self.without("g++")
        self.fails("what Debian calls so", "g++", root=False)

    def test_no_network_and_no_toolkit(self):
        self.without("nvcc")
        self.fails("Network is unreachable", "The pinned Meson can't be had; going on with", "CUDA_HOME=/path/to/cuda ./lab")

    def test_no_network_and_no_meson(self):
        self.without("meson")
        self.fails("Neither the Python index nor a Meson", "sudo apt-get install -y meson ninja-build", root=False)

    def test_an_environment_that_was_cut_short_is_made_again(self):
        python = self.dir / "venv/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/bash\nexit 1\n")
        python.chmod(0o755)
        self.run_tool("setup")
        self.assertEqual(python.read_text(), (self.dir / "bin/python3").read_text())

    def test_no_toolkit_of_the_wanted_version(self):
        self.fails("LAB_CUDA asks for 12", LAB_CUDA="12")
        self.fails('LAB_CUDA is "11"', LAB_CUDA="11")

    def test_cuda_11_alone(self):
        self.program("nvcc", 'echo "release 11.8, V11.8.89"')
        self.fails("There is no nvcc 12 or later")

    def test_an_older_driver_asks_for_cuda_12(self):
        self.without("nvcc")
        self.program("nvidia-smi", "echo 'NVIDIA A100, 8.0, 535.104.05'")
        self.fails("Fetching the CUDA 12 toolkit")

    def test_a_full_disk(self):
        self.program("df", "printf 'x\\nfs 1 1 100 99%% /\\n'")
        self.fails("Only 100 MiB are free", "LAB_BUILD=/some/folder")

    def test_a_folder_that_can_not_be_written(self):
        self.fails("Can't write to /proc/build", "LAB_BUILD=~/lab-build", LAB_BUILD="/proc/build")


if __name__ == "__main__":
    unittest.main()
