#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./lab doctor and ./lab setup say on machines that lack something: run on a PATH of stand-ins.

usage: setup_test.py      from anywhere; changes nothing outside of a temporary folder
"""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import time
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[1]
# The scripts use these as they are.
REAL = (
    "bash cat awk basename chmod cmp cp cut date df dirname env find flock grep gzip head iconv id ln ls mkdir mv nproc paste printf readlink "
    "rm sed sh sha256sum sleep sort stat tail tar touch tr uname wc"
).split()

# What some programs say and do.
MESON = (
    'case $1 in --version) echo 1.9.1;; *) echo "$@" >>$LAB_BUILD/asked; touch $LAB_BUILD/build.ninja;; esac'
)
CUDA_11 = 'echo "release 11.8, V11.8.89"'
FULL = "printf 'x\\nfs 1 1 100 99%% /\\n'"


def bash(*arguments, **more):
    command = [shutil.which("bash"), *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


def other_user():
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


class Machine(unittest.TestCase):
    """A good machine, from which each test takes something away: all libraries, g++ 12, nvcc 13.0, no GPU, no
    network."""

    FOLDER = "c"  # its name

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        pathlib.Path(self.folder.name).chmod(0o755)
        self.dir = pathlib.Path(self.folder.name) / self.FOLDER
        self.dir.mkdir()
        (self.dir / "bin").mkdir()
        shutil.copytree(TOOLS, self.dir / "common/tools")
        shutil.copy(TOOLS.parents[1] / "lab", self.dir)
        for name in REAL:
            (self.dir / "bin" / name).symlink_to(shutil.which(name))
        self.program("g++", 'case $1 in --version) echo "Free Software";; *) echo 12.2.0;; esac')
        self.program("nvcc", 'echo "release 13.0, V13.0.88"')
        self.program("pkg-config", "[ $1 = --exists ] && exit 0; echo 1.0")
        self.program("bwrap", "exit 0")
        self.program("meson", "echo 1.9.1")
        self.program("ninja", "echo 1.11.1")
        # A Python whose environments can be made and reach no index.
        self.program(
            "python3",
            'case "$*" in "-c "*) ;; "-m venv"*) mkdir -p $3/bin; cp "$0" $3/bin/python;; *pip*) echo "Network is unreachable"; exit 1;; esac',
        )

    def tearDown(self):
        self.folder.cleanup()

    def changed(self, lacks=(), **programs):
        """A good machine again, with these changes."""
        self.tearDown()
        self.setUp()
        self.without(*lacks)
        for name, text in programs.items():
            self.program(name.replace("_", "-"), text)

    def program(self, name, text):
        path = self.dir / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def without(self, *names):
        for name in names:
            (self.dir / "bin" / name).unlink()

    def packages(self, *known, unless=""):
        """What apt-cache says if these are its packages: for a name that it does not know, of all that begin
        with it or end with it."""
        lines = " ".join(known)
        self.program(
            "apt-cache",
            f"""{unless}
            for asked in "${{@:2}}"; do for package in {lines}; do
              name=${{package%%=*}}
              [[ $name = "$asked" || ! " {lines} " = *" $asked="* && ( $name = "$asked"* || $name = *"${{asked##*++}}" ) ]] || continue
              printf '%s:\n  Installed: (none)\n  Candidate: %s\n  Version table:\n' "$name" "${{package#*=}}"
            done; done""",
        )

    def run_tool(self, tool, *arguments, root=True, **environment):
        """Output and exit status; root=False: as somebody who may not install anything."""
        here = {"LAB_ROOT": str(self.dir), "LAB_BUILD": str(self.dir / "build")}
        here |= {"LAB_VENV": str(self.dir / "venv"), "TMPDIR": self.folder.name}
        variables = self.variables(self.dir) | here | environment
        user = {} if root else other_user()
        if user:
            for path in [self.dir, *self.dir.rglob("*")]:
                os.chown(path, 65534, 65534, follow_symlinks=False)
        script = self.dir / f"common/tools/setup/{tool}.sh"
        done = bash(script, *arguments, env=variables, **user)
        return done.stdout + done.stderr, done.returncode

    def variables(self, at):
        return {"PATH": str(at / "bin"), "HOME": str(at), "SYSTEM_CUDA": "/nowhere"}

    def lab(self, *arguments, at=None, **environment):
        at = at or self.dir
        command, variables = ["bash", at / "lab", *arguments], self.variables(at) | environment
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=variables, text=True, **streams)

    def ended_well(self, process):
        text = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0, text)
        return text


class OthersCheckout(unittest.TestCase):
    def test_says_whose_it_is_and_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            checkout = pathlib.Path(folder)
            checkout.chmod(0o755)
            shutil.copytree(TOOLS, checkout / "common/tools")
            shutil.copy(TOOLS.parents[1] / "lab", checkout)
            (checkout / "build").mkdir()
            (checkout / "build").chmod(0o555)
            variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
            done = bash(checkout / "lab", "list", env=variables, cwd="/", **other_user())
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"You may not write to {checkout}/build, which belongs to", done.stderr)
        self.assertIn("LAB_BUILD=", done.stderr)
        self.assertEqual(done.stdout, "")


class Progress(Machine):
    """step.sh on a terminal, and without one."""

    def steps(self, *commands):
        """Commands for bash, behind step.sh."""
        before = (
            f"set -euo pipefail; LAB_BUILD={self.dir}/build; source {self.dir}/common/tools/setup/step.sh"
        )
        return "; ".join([before, *commands])

    DOING = 'step --quiet "Doing it" "$@"'

    def logged(self, *command, every="progress_every=1"):
        """What stands in a log, with a line a second."""
        return bash("-c", self.steps(every, self.DOING), "step", *command, timeout=20).stderr

    def test_a_longer_step_shows_how_far_it_is_without_a_terminal(self):
        text = self.logged("bash", "-c", "echo [3/9] Compiling; sleep 2.7")
        self.assertRegex(
            text, r"(?m)^lab: Doing it \(\d+ s\) \[3/9\] Compiling\n(.*\n)*lab: Doing it: done \(\d+ s\)\n$"
        )
        self.assertNotIn("\r", text)
        self.assertEqual(self.logged("true"), "")

    def test_a_wait_is_announced_after_two_seconds(self):
        text = self.logged("sleep", "2.9", every=":")
        self.assertRegex(text, r"^lab: Doing it \(2 s\) \nlab: Doing it: done")

    def test_cuts_a_long_line_visibly(self):
        with tempfile.NamedTemporaryFile("w") as log:
            log.write("[41/44] Compiling C++ object grader/libgrader.a.p/grading_collect.cpp.o")
            log.flush()
            script = f"LAB_BUILD=/; source {TOOLS / 'setup/step.sh'}; show_line 'Building what it needs' 30 {log.name}"
            done = bash("-c", script, env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.stderr[:44], "lab: Building what it needs (30 s) [41/44] C")
        self.assertEqual((len(done.stderr), done.stderr[-2:]), (80, "…\n"))

    def test_nothing_outlives_a_step(self):
        """A progress that still slept would keep a pipe open, and the lock of the build."""
        program = self.steps(
            "sleep() { command sleep 30; }",
            'take_lock "$LAB_BUILD.lock"; step --quiet "Doing it" bash -c "command sleep 0.2"; release_lock',
            'flock -n "$LAB_BUILD.lock" echo free',
        )
        done = bash("-c", program, timeout=20)
        self.assertEqual(done.stdout, "free\n", done.stderr)

    def seen(self, *command):
        """What a terminal shows of a step."""
        screen, terminal = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        subprocess.run(["bash", "-c", self.steps(self.DOING), "step", *command], **streams)
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
    """What step.sh says when a build fails: at most ten lines, for somebody who sees that for the first
    time."""

    def said(self, script, **environment):
        program = f'set -euo pipefail; source {self.dir}/common/tools/setup/step.sh; LAB_LOG=$LAB_BUILD/lab-build.log; step --quiet Building bash -c "$1"'
        variables = {
            "PATH": f"{self.dir}/bin",
            "LAB_ROOT": str(self.dir),
            "LAB_BUILD": str(self.dir / "build"),
            **environment,
        }
        done = bash("-c", program, "step", script, env=variables)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertLessEqual(len(lines), 10, done.stderr)
        self.assertEqual([line for line in lines if len(line) > 300], [])
        if not re.search("your own file|interrupted", done.stderr):
            self.assertIn(str(self.dir / "build/lab-build.log"), done.stderr)
        return done.stderr

    def test_a_real_compilers_error(self):
        # A header's mistake behind many templates, with a warning before it.
        (self.dir / "common/wrong.hpp").write_text(
            "template <int N> struct A { A<N - 1> a; };\ntemplate <> struct A<0> { Nothing a; };\n"
        )
        (self.dir / "common/wrong.cpp").write_text(
            '#include "wrong.hpp"\nint unused() { int x; return 0; }\nA<30> a;\n'
        )
        (self.dir / "build").mkdir()
        compiler = f"{shutil.which('g++')} -Wall -fdiagnostics-color=always"
        script = f"cd {self.dir}/build && {compiler} -c ../common/wrong.cpp"
        text = self.said(script, PATH=f"{self.dir}/bin:/usr/bin:/bin")
        place, course = "stopped at common/wrong.hpp, line 2:", "a fault of the course, not of your code"
        for words in (place, "Nothing", course, "send this file to your instructor"):
            self.assertIn(words, text)

    FAULT = "fault of the course"

    def test_what_stops_a_build_is_said(self):
        (self.dir / "meson.build").touch()
        error = "a.s: fatal error: error writing to b.o: No space left on device"
        full = f"echo '{error}'; for i in {{1..9999}}; do echo and a long line; done; exit 1"
        library = """
            echo 'FAILED: grader/libgrader.a.p/grader-unity0.cpp.o'
            echo 'In file included from /usr/include/fmt/format.h:48,'
            echo '                 from ../grader/report/result.cpp:4:'
            echo '/usr/include/fmt/core.h:1761:3: error: array subscript 3 is outside array bounds [-Werror=array-bounds]'
            for i in {1..9999}; do echo "note: template $i of a page of templates that nobody can read"; done
            echo 'cc1plus: all warnings being treated as errors'; exit 1"""
        of_library = "stopped at /usr/include/fmt/core.h, line 1761 (included by grader/report/result.cpp):"
        header = "echo '../grader/a.cpp:3:10: fatal error: fmt/format.h: No such file or directory'; exit 1"
        stb = 'Dependency "stb" not found'
        interrupted = "echo '[3/9] Compiling'; echo 'ninja: build stopped: interrupted by user.'; exit 2"
        for script, told, not_told in [
            (library, [of_library, "a fault of the course"], ""),
            (
                "echo '../labs/scan/scan.cu(12): error: expected a \";\"'; exit 2",
                ["stopped at labs/scan/scan.cu, line 12:", "your own file"],
                self.FAULT,
            ),
            (header, ["stopped at grader/a.cpp, line 3:", "./lab doctor"], self.FAULT),
            (
                f"echo 'meson.build:93:2: ERROR: {stb}'; exit 1",
                ["stopped at meson.build, line 93:", stb, "./lab doctor"],
                "",
            ),
            (full, ["disk is full"], ""),
            (
                "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1",
                ["memory is used up"],
                "",
            ),
            ("echo something odd; exit 3", ["something odd", "./lab doctor"], ""),
            (interrupted, ["was interrupted"], "instructor"),
        ]:
            with self.subTest(told=told):
                text = self.said(script)
                for words in told:
                    self.assertIn(words, text)
                self.assertFalse(not_told and not_told in text, text)

    def test_a_refused_certificate(self):
        for line in [
            "Could not fetch URL https://host/simple/meson/: There was a problem confirming the ssl certificate: HTTPSConnectionPool(host='host', port=443)",
            "'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed'))'",
            "  Certificate verification failed: The certificate is NOT trusted. The certificate issuer is unknown.",
        ]:
            text = self.said(
                f"cat <<'END'\n{line}\nERROR: No matching distribution found for meson==1.9.1\nEND\nexit 1"
            )
            self.assertIn("certificate was refused: " + line.strip()[:60], text)
            self.assertIn("PIP_CERT=", text)

    def test_a_proxy_is_named_without_its_password(self):
        line = (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError('Cannot connect to proxy.', "
            "OSError('Tunnel connection failed: 407 Proxy Authentication Required'))'"
        )
        text = self.said(
            f"cat <<'END'\n{line}\nEND\nexit 1", https_proxy="http://me:secret@proxy.example:3128"
        )
        self.assertIn("the proxy did not let it through: 'ProxyError(", text)
        self.assertIn("https_proxy=proxy.example:3128", text)
        self.assertNotIn("secret", text)
        text = self.said(
            "echo 'Could not connect to 10.0.0.1:3128 (10.0.0.1). - connect (111: Connection refused)'; exit 1",
            http_proxy="http://10.0.0.1:3128",
        )
        self.assertIn("network can't be reached", text)
        self.assertIn("http_proxy=http://10.0.0.1:3128", text)


class Warnings(Machine):
    def test_warnings_are_errors_on_request_alone(self):
        self.program("meson", MESON)
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
        "portable": "fpu sse2",
        "avx2": "avx2 fma bmi1 bmi2 abm popcnt f16c",
        "avx512": "avx2 fma bmi1 bmi2 abm popcnt f16c avx512f avx512dq avx512vl avx512bw avx512cd",
    }

    def cpuinfo(self, isa):
        path = self.dir / f"cpuinfo-{isa}"
        path.write_text(f"processor\t: 0\nflags\t\t: {self.FLAGS[isa]}\n")
        return str(path)

    def test_the_best_one_is_found(self):
        for isa in self.FLAGS:
            self.assertEqual(self.run_tool("host_isa", CPUINFO=self.cpuinfo(isa)), (isa + "\n", 0))
        self.assertEqual(self.run_tool("host_isa", CPUINFO="/nowhere"), ("portable\n", 0))

    def test_another_machine_is_added(self):
        self.program("meson", MESON)
        for isa, wanted in [("avx512", "avx512"), ("avx2", "avx2,avx512"), ("avx512", "avx2,avx512")]:
            self.assertEqual(self.run_tool("setup", CPUINFO=self.cpuinfo(isa))[1], 0)
            self.assertIn(
                f"-Dsimulator_isas={wanted} ", (self.dir / "build/asked").read_text().splitlines()[-1]
            )
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

    def test_what_is_missing_is_listed(self):
        for row, programs, more in [
            (r"CUDA toolkit +[^ ]+ +(nvcc 12 or later)?\s+11\.8", {"nvcc": CUDA_11}, {}),
            (r"C\+\+ compiler +11\.4\.0 +g\+\+ 12 to", {"g++": "echo 11.4.0"}, {}),
            ("Disk +100 MiB free", {"df": FULL}, {}),
            ("CUDA toolkit", {}, {"LAB_CUDA": "12"}),
        ]:
            with self.subTest(row):
                self.changed(**programs)
                text, status = self.run_tool("doctor", **more)
                self.assertEqual(status, 1)
                self.assertRegex(text, "MISSING +" + row)
                self.assertEqual("toolkit" in row, '"./lab setup" fetches it' in text)

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

    def test_a_read_only_checkout(self):
        text, status = self.run_tool("doctor", root=False, LAB_BUILD="/proc/build")
        self.assertEqual(status, 1)
        self.assertIn("read-only", text)
        self.assertIn("LAB_BUILD=~/lab-build", text)


class Setup(Machine):
    def fails(self, *told, **how):
        text, status = self.run_tool("setup", **how)
        self.assertEqual(status, 1, text)
        for words in told:
            self.assertIn(words, text)
        return text

    def test_what_stops_it_is_said_with_a_remedy(self):
        no_root, no_apt = {"root": False}, {"apt_get": "exit 1"}
        driver = {"nvidia_smi": "echo 'NVIDIA A100, 8.0, 535.104.05'"}
        without_nvcc = ["The pinned Meson can't be had; going on with", "CUDA_HOME=/path/to/cuda ./lab"]
        without_meson = ["Neither the Python index nor a Meson", "install -y meson ninja-build"]
        for lacks, programs, how, told in [
            (["g++"], no_apt, no_root, ["sudo apt-get install -y g++\n"]),
            ([], {"g++": "echo 11.4.0", **no_apt}, no_root, ["sudo apt-get install -y g++-12\n"]),
            (["g++"], {}, no_root, ["what Debian calls so", "g++"]),
            (["nvcc"], {}, {}, ["Network is unreachable", *without_nvcc]),
            (["meson"], {}, no_root, without_meson),
            ([], {}, {"LAB_CUDA": "12"}, ["LAB_CUDA asks for 12"]),
            ([], {}, {"LAB_CUDA": "11"}, ['LAB_CUDA is "11"']),
            ([], {"nvcc": CUDA_11}, {}, ["There is no nvcc 12 or later"]),
            (["nvcc"], driver, {}, ["Fetching the CUDA 12 toolkit"]),
            (["nvcc"], {"getconf": "echo glibc 2.41", **driver}, {}, ["Fetching the CUDA 13 toolkit"]),
            ([], {"df": FULL}, {}, ["Only 100 MiB are free", "LAB_BUILD=/some/folder"]),
            ([], {}, {"LAB_BUILD": "/proc/build"}, ["Can't write to /proc/build", "LAB_BUILD=~/lab-build"]),
        ]:
            with self.subTest(told=told):
                self.changed(lacks, **programs)
                self.fails(*told, **how)
        self.changed(["g++"], **no_apt)
        self.packages(*self.OLDER)
        self.fails("sudo apt-get install -y g++-12\n", **no_root)

    def toolkit(self, release, newest_gcc):
        """An nvcc as installed toolkits have it, with the header in which it says what it takes."""
        home = self.dir / f"cuda-{release}"
        for folder in ["bin", "include/crt"]:
            (home / folder).mkdir(parents=True)
        (home / "include/crt/host_config.h").write_text(
            f"#if __GNUC__ > {newest_gcc}\n#error -- unsupported GNU version!\n#endif\n"
        )
        (home / "bin/nvcc").write_text(f'#!/bin/bash\necho "release {release}, V{release}.1"\n')
        (home / "bin/nvcc").chmod(0o755)
        return str(home)

    def gcc(self, name, major):
        self.program(name, f'case $1 in --version) echo "Free Software";; *) echo {major}.1.0;; esac')

    def test_nvcc_says_which_compiler_is_too_new(self):
        self.gcc("g++", 16)
        self.program("apt-get", "exit 1")
        self.packages("g++=4:16.1.0-1", "g++-15=15.1.0-1", "g++-14=14.1.0-2")
        self.fails("sudo apt-get install -y g++-15\n", root=False, CUDA_HOME=self.toolkit("13.0", 15))
        self.fails("sudo apt-get install -y g++-14\n", root=False, CUDA_HOME=self.toolkit("12.9", 14))
        self.assertNotIn("g++", self.run_tool("setup", root=False, CUDA_HOME=self.toolkit("13.4", 16))[0])

    # As on Ubuntu 22.04: apt takes "g++-15" for a regular expression, which clang-15's name fits.
    OLDER = "g++=4:11.2.0-1ubuntu1 g++-11=11.4.0-1 g++-12=12.3.0-1 clang-15=1:15.0.7 libx11-13=2".split()

    def test_the_newest_compiler_that_apt_has_under_this_very_name(self):
        self.gcc("g++", 11)
        self.packages(*self.OLDER)
        self.program(
            "apt-get",
            f'echo "$@" >>{self.dir}/asked; [[ $1 != install ]] || ln -s g++ {self.dir}/bin/g++-12 && sed s/11.1.0/12.1.0/ {self.dir}/bin/g++ >{self.dir}/new '
            f"&& mv {self.dir}/new {self.dir}/bin/g++-12 && chmod +x {self.dir}/bin/g++-12",
        )
        self.fails("sudo apt-get install -y g++-12\n", root=False)
        self.assertIn("install -y g++-12\n", self.run_tool("doctor")[0])
        self.assertFalse((self.dir / "asked").exists())
        self.assertEqual(self.run_tool("setup")[1], 0)
        self.assertRegex((self.dir / "asked").read_text(), r"^install .* g\+\+-12\n$")
        self.assertIn(f"'-ccbin', '{self.dir}/bin/g++-12'", (self.dir / "build/lab-native.ini").read_text())

    def test_no_compiler_that_apt_knows_is_recent_enough(self):
        self.gcc("g++", 11)
        self.packages("g++=4:11.2.0-1ubuntu1", "clang-15=1:15.0.7")
        self.program("apt-get", f'echo "$@" >>{self.dir}/asked')
        text = self.fails(
            "g++ 12 to 15 is needed", "no source of packages here has one", "CXX=/path/to/g++ ./lab"
        )
        self.assertNotIn("apt-get install", text)
        self.assertEqual((self.dir / "asked").read_text(), "update -o Acquire::Retries=3\n")
        self.assertIn("apt knows none of them", self.run_tool("doctor")[0])

    def test_a_package_is_asked_for_if_apt_knows_it_with_lists_that_are_fetched(self):
        for known, asked in [("bubblewrap=0.8", "update\ninstall\n"), ("bubblewrap-doc=1", "update\n")]:
            self.changed(["bwrap"])
            self.packages(known, unless=f"[ -e {self.dir}/updated ] || exit 0")
            update = f"[ $1 != update ] || touch {self.dir}/updated"
            self.program("apt-get", f"echo $1 >>{self.dir}/asked; {update}")
            self.run_tool("setup")
            self.assertEqual((self.dir / "asked").read_text(), asked)

    def test_a_package_for_one_command_alone(self):
        self.packages("emscripten=3.1")
        self.program("apt-get", f"echo $1 >>{self.dir}/asked")
        _, status = self.run_tool("setup", "--package", "emscripten")
        self.assertEqual(((self.dir / "asked").read_text(), status), ("install\n", 0))
        self.assertFalse((self.dir / "build/build.ninja").exists())
        _, status = self.run_tool("setup", "--package", "emscripten", root=False)
        self.assertEqual(((self.dir / "asked").read_text(), status), ("install\n", 1))

    def test_takes_another_compiler_where_the_first_is_too_new(self):
        self.gcc("g++", 16)
        self.gcc("g++-14", 14)
        text, _ = self.run_tool("doctor", CUDA_HOME=self.toolkit("13.0", 15))
        self.assertRegex(text, r"ok +C\+\+ compiler +[^ ]+/g\+\+-14 *(g\+\+ 12 to 15)?\s+14\.1\.0")

    def test_a_compiler_asked_for_that_nvcc_refuses(self):
        self.gcc("g++-14", 14)
        text, _ = self.run_tool("setup", CXX="g++-14", CUDA_HOME=self.toolkit("12.4", 13))
        self.assertRegex(
            text, r"CXX is g\+\+-14, but nvcc 12\.4 takes g\+\+ 12 to 13: going on with [^ ]+/g\+\+\.\n"
        )
        self.gcc("g++", 14)
        self.program("apt-get", "exit 1")
        self.fails(
            "sudo apt-get install -y g++-12\n", root=False, CXX="g++-14", CUDA_HOME=self.toolkit("12.5", 13)
        )

    def test_clang_compiles_the_host_code_and_gxx_stays_with_nvcc(self):
        self.program("clang++-19", 'echo "Debian clang version 19.1.7"')
        text, _ = self.run_tool("setup", CXX="clang++-19", CUDA_HOME=self.toolkit("13.0", 15))
        self.assertNotIn("CXX", text)
        native = (self.dir / "build/lab-native.ini").read_text()
        self.assertIn(f"cpp = ['{self.dir}/bin/clang++-19']\n", native)
        self.assertIn(f"'-ccbin', '{self.dir}/bin/g++']", native)

    def test_a_c_library_that_a_toolkit_does_not_know(self):
        self.program("getconf", "echo glibc 2.41")
        self.fails(
            "CUDA 12 does not compile with this system's C library, glibc 2.41",
            "LAB_CUDA=13 ./lab",
            LAB_CUDA="12",
        )
        self.program("getconf", "echo glibc 2.43")
        self.fails("CUDA 13.1 does not compile", LAB_CUDA="13.1")
        self.without("nvcc")
        self.fails("Fetching the CUDA 13.5 toolkit", CUDA_HOME=self.toolkit("13.0", 15))
        self.fails("Fetching the CUDA 13.5 toolkit", LAB_CUDA="13")

    def pip_says(self, words):
        self.program(
            "python3",
            f"""case "$*" in "-c "*) ;; "-m venv"*) mkdir -p $3/bin; cp "$0" $3/bin/python;; *pip*) cat <<'END'\n{words}\nEND\nexit 1;; esac""",
        )

    CERTIFICATE = "Retrying after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))'"

    def test_what_stopped_pip_is_not_mistaken_for_something_missing(self):
        for words, reason in [
            (self.CERTIFICATE, "PIP_CERT="),
            ("ProxyError('Cannot connect to proxy.')", "proxy did not let"),
            ("[Errno 28] No space left on device", "disk is full"),
        ]:
            for lacks in ["meson", "nvcc"]:
                with self.subTest(words=words, lacks=lacks):
                    self.pip_says(words)
                    kept = (self.dir / "bin" / lacks).read_text()
                    self.without(lacks)
                    text = self.fails(reason)
                    self.assertNotIn("Neither the Python index", text)
                    self.assertNotIn("Install CUDA", text)
                    self.program(lacks, kept)

    def test_too_little_space_where_the_environment_will_be(self):
        self.without("meson")
        self.program(
            "df", 'case $2 in */venv) free=8;; *) free=9999;; esac; printf "x\\nfs 1 1 $free 1%% /\\n"'
        )
        text = self.fails(
            f"Only 8 MiB are free where {self.dir}/venv is, and about 60 MiB are needed for the Python environment"
        )
        self.assertNotIn("index", text)
        self.assertRegex(self.run_tool("doctor")[0], r"MISSING +Disk +8 MiB free +60 MiB for the Python")

    def test_an_environment_that_was_cut_short_is_made_again(self):
        python = self.dir / "venv/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/bash\nexit 1\n")
        python.chmod(0o755)
        self.run_tool("setup")
        self.assertEqual(python.read_text(), (self.dir / "bin/python3").read_text())

    def test_a_cuda_home_that_can_not_be_used_is_named_and_ignored(self):
        text = self.run_tool("setup", CUDA_HOME=self.toolkit("11.8", 11))[0]
        self.assertIn(
            f"{self.dir}/cuda-11.8 is ignored: it has CUDA 11.8, and this needs CUDA 12 or later", text
        )
        text = self.run_tool("setup", CUDA_HOME="/nowhere/cuda")[0]
        self.assertIn("/nowhere/cuda is ignored: it has no nvcc", text)
        self.assertNotIn("is ignored", self.run_tool("setup", CUDA_HOME=self.toolkit("13.1", 15))[0])

    def test_a_path_that_compilers_can_not_read_is_refused(self):
        odd = dict.fromkeys([b'a"b', b"a$b", b"a\\b", b"a`b", b"a|b"], "the character")
        odd |= {b"a,b": "the character ,", b"a\nb": "a line break", b"f\xfcr": "bytes that are no UTF-8"}
        for name, said in odd.items():
            with self.subTest(name=name):
                self.fails(
                    f"The path of the build folder holds {said}",
                    "LAB_BUILD=",
                    LAB_BUILD=os.fsdecode(os.fsencode(self.dir) + b"/" + name),
                )

    def test_spaces_and_letters_of_any_script_are_no_obstacle(self):
        for name in ["gpu labs für alle", "日本 ラボ", "a'b", "a#b", "a(b)&;[c]!@~=*:%"]:
            with self.subTest(name=name):
                text, status = self.run_tool("setup", LAB_BUILD=str(self.dir / name))
                self.assertEqual(status, 0, text)


# A Python whose environments are made without an index: what pip installs are scripts that hold the path of
# the environment.
PIP = """here=$(dirname "$0")
case "$*" in
  "-c "* | *"pip --version") ;;
  "-m venv"*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  *"pip install"*)
    echo installed >>"$here/pip-calls"; sleep ${SLOW-0}
    for name in meson pip; do printf '#!%s/python\\n' "$here" >"$here/$name"; chmod +x "$here/$name"; done
    printf '#!/bin/sh\\n[ "$1" = --version ] || echo "$@" >"$LAB_BUILD/ninja-call"\\necho 1.11.1\\n' >"$here/ninja"
    chmod +x "$here/ninja" ;;
  "-m mesonbuild.mesonmain --version") [ -e "$here/pip-calls" ] && echo 1.9.1 ;;
  "-m mesonbuild.mesonmain setup"*) touch "$LAB_BUILD/build.ninja" ;;
esac"""


class Checkout(Machine):
    """./lab in a checkout of its own, with stand-ins for the programs."""

    FOLDER = "gpu labs für alle"

    def setUp(self):
        super().setUp()
        self.program("python3", PIP)
        self.without("meson", "ninja")

    def test_a_moved_checkout_is_set_up_again_without_a_network(self):
        self.ended_well(self.lab("setup"))
        new = pathlib.Path(self.folder.name) / "elsewhere" / "it's лабы"
        new.parent.mkdir()
        self.dir.rename(new)
        text = self.ended_well(self.lab("setup", at=new))
        self.assertIn("Configuring the build", text)
        self.assertEqual((new / ".venv/bin/pip-calls").read_text(), "installed\n")
        escaped = str(new).replace("'", "\\'")
        self.assertIn(f"'{escaped}/bin/g++'", (new / "build/lab-native.ini").read_text())
        self.assertNotIn("Configuring", self.ended_well(self.lab("setup", at=new)))

    def test_a_moved_environment_with_scripts_of_pip_is_mended(self):
        self.ended_well(self.lab("setup"))
        for name in ["meson", "pip"]:
            (self.dir / ".venv/bin" / name).write_text("#!/old/place/.venv/bin/python\n")
        (self.dir / "build/.lab-stamp").unlink()
        self.ended_well(self.lab("setup"))
        for name in ["meson", "pip"]:
            command = [self.dir / ".venv/bin" / name, "--version"]
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)

    def test_an_environment_of_a_removed_python_is_made_again(self):
        self.ended_well(self.lab("setup"))
        python = self.dir / ".venv/bin/python"
        python.unlink()
        python.symlink_to("/nowhere/python3.9")
        (self.dir / ".venv/bin/pip-calls").unlink()
        self.program("python3", PIP.replace("mkdir -p", 'rm -f "$3/bin/python"; mkdir -p'))
        self.ended_well(self.lab("setup"))
        self.assertEqual((self.dir / ".venv/bin/pip-calls").read_text(), "installed\n")

    def test_of_two_set_ups_one_waits_and_takes_what_the_other_made(self):
        first, second = [self.lab("setup", SLOW="3.2") for _ in range(2)]
        texts = [self.ended_well(process) for process in (first, second)]
        self.assertEqual((self.dir / ".venv/bin/pip-calls").read_text(), "installed\n")
        waited = [text for text in texts if "Waiting" in text]
        self.assertEqual(len(waited), 1, texts)
        holder = second.pid if waited[0] is texts[0] else first.pid
        self.assertRegex(
            waited[0], rf'(?m)^lab: Waiting for "./lab setup", process {holder}, busy for \d+ s \(2 s\)'
        )
        self.assertNotIn("Configuring", waited[0])

    def test_two_checkouts_with_one_environment_wait_for_each_other(self):
        shared = str(pathlib.Path(self.folder.name) / "shared")
        builds = [str(self.dir / name) for name in ["build-a", "build-b"]]
        for process in [self.lab("setup", SLOW="0.5", LAB_VENV=shared, LAB_BUILD=build) for build in builds]:
            self.ended_well(process)
        self.assertEqual((pathlib.Path(shared) / "bin/pip-calls").read_text(), "installed\n")

    def test_a_command_builds_what_the_labs_that_it_names_need(self):
        for lab in ("scan", "sat"):
            (self.dir / f"labs/{lab}").mkdir(parents=True)
            (self.dir / f"labs/{lab}/lab.hpp").touch()
        for words, parts in [
            ("grade scan", "parts_of_scan"),
            ("check --task x sat", "parts_of_sat"),
            ("watch scan", "parts_of_scan"),
            ("grade scan sat", "parts_of_scan parts_of_sat"),
            ("grade", "parts_of_labs"),
            ("setup labs/scan_test", "parts_of_labs labs/scan_test"),
        ]:
            self.lab(*words.split()).communicate()
            self.assertEqual(
                (self.dir / "build/ninja-call").read_text(), f"-C {self.dir}/build tools {parts}\n"
            )

    def test_a_build_is_announced_and_others_say_that_they_wait_for_it(self):
        self.ended_well(self.lab("setup"))
        (self.dir / ".venv/bin/ninja").write_text(
            "#!/bin/sh\ncase $* in --version | *' -n '*) ;; *) echo '[3/9] Compiling'; sleep 3.2;; esac\n"
            "echo 1.11.1\n"
        )
        first = self.lab("debug", "scan", "blelloch")
        held = self.dir / "build/ninja.lock"
        while first.poll() is None and not (held.exists() and "debug" in held.read_text()):
            time.sleep(0.02)
        second = self.lab("list")
        waited = second.communicate(timeout=60)[0]
        self.assertIn(
            'lab: Building what "./lab debug" needs (2 s) [3/9] Compiling', first.communicate(timeout=60)[0]
        )
        self.assertRegex(
            waited,
            rf'(?m)^lab: Waiting for "./lab debug", process {first.pid}, busy for \d+ s \(2 s\) \[3/9\]',
        )

    def test_class_starts_without_a_build_and_without_another_commands_lock(self):
        for name in ("solutions", "grader/desk", "labs/scan", "build/grader"):
            (self.dir / name).mkdir(parents=True)
        (self.dir / "grader/desk/desk.py").touch()
        (self.dir / "labs/scan/points.hpp").touch()
        (self.dir / "build/grader/labcli").write_text("#!/bin/sh\n")
        (self.dir / "build/grader/labcli").chmod(0o755)
        self.ended_well(self.lab("class", "grades", "term.graded"))
        self.assertFalse((self.dir / "build/ninja-call").exists())
        now = time.time() + 10
        os.utime(self.dir / "labs/scan/points.hpp", (now, now))
        self.ended_well(self.lab("class", "grades", "term.graded"))
        self.assertTrue((self.dir / "build/ninja-call").exists(), "the points of a lab have changed")

    def waits(self, *words):
        """Whether a command waits for the build of another one."""
        with open(self.dir / "build/ninja.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.lab(*words)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=4)
        return "Waiting for" in process.communicate(timeout=60)[0]

    def test_help_waits_for_no_other_command(self):
        self.ended_well(self.lab("setup"))
        for name in ("solutions", "grader/batch"):
            (self.dir / name).mkdir(parents=True)
        (self.dir / "grader/batch/grade_all.py").touch()
        (self.dir / "build/ninja-call").unlink()
        for words in ("watch --help", "debug -h", "sanitize --help", "submit --help", "grade-all in/ --help"):
            self.assertFalse(self.waits(*words.split()), words)
        self.assertFalse((self.dir / "build/ninja-call").exists())
        self.assertTrue(self.waits("sanitize", "program", "--help"), "that is the program's")

    def test_what_is_built_waits_for_no_other_build(self):
        self.ended_well(self.lab("setup"))
        self.assertTrue(self.waits("watch"))
        (self.dir / ".venv/bin/ninja").write_text(
            "#!/bin/sh\ncase $* in *' -n tools '*) echo 'ninja: no work to do.';; esac\n"
        )
        self.assertFalse(self.waits("watch"))

    def test_a_lock_that_can_not_be_had_stops_nothing(self):
        self.without("flock")
        self.ended_well(self.lab("setup"))


class WithTools(Machine):
    """./lab in an edition with prebuilt tools, which are stand-ins, too: labcli writes down how it was called."""

    FOLDER = "gpu labs für alle"

    def setUp(self):
        super().setUp()
        self.without("meson", "ninja")
        self.program("python3", PIP)
        self.program("getconf", "echo glibc ${GLIBC-2.35}")
        cuda = self.dir / "cuda"
        (cuda / "lib64").mkdir(parents=True)
        (cuda / "lib64/libcudart.so").touch()
        # Goes on after the line that set-up looks for, like nvcc, which a closed pipe would end.
        dry_run = f'echo "#$ TOP={cuda}"; sleep 0.1; echo "#$ cicc"'
        self.program(
            "nvcc", f'case $1 in --dryrun) {{ {dry_run}; }} >&2;; *) echo "release 13.0, V13.0.88";; esac'
        )
        sources = (
            "meson.build meson_options.txt common/a.cpp labs/scan/lab.hpp labs/scan/scan.cu grader/x.hpp"
        )
        for name in sources.split():
            (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
            (self.dir / name).write_text(name)
        self.pack('echo "$LAB_BUILD: $@" >>"$LAB_ROOT/asked"')

    def pack(self, labcli):
        """As the release's script does."""
        script = """cd "$1" && source common/tools/setup/prebuilt.sh && mkdir -p prebuilt tools/grader tools/common && cat >tools/grader/labcli &&
            chmod +x tools/grader/labcli && touch tools/common/library.so && here=$PWD && cd tools && sha256sum grader/labcli common/library.so >"$PREBUILT.tools.sha256" &&
            tar -czf "$PREBUILT.tar.gz" . && cd "$here" && rm -r tools && list_sources | LC_ALL=C sort -z | xargs -0 sha256sum >"$PREBUILT.sha256" &&
            sha256sum "prebuilt/$(uname -m).tar.gz" "prebuilt/$(uname -m).tools.sha256" >>"$PREBUILT.sha256"
        """
        command, environment = ["bash", "-ec", script, "bash", self.dir], {"LAB_ROOT": str(self.dir)}
        labcli = f"#!/bin/bash\n{labcli}\n"
        subprocess.run(command, input=labcli, text=True, check=True, env=os.environ | environment)

    def asked(self):
        return (self.dir / "asked").read_text() if (self.dir / "asked").exists() else ""

    def goes_to_the_sources(self, reason, *arguments, **environment):
        text = self.lab(*arguments, **environment).communicate(timeout=60)[0]
        self.assertRegex(text, f"prebuilt tools can't be used.*{reason}")
        self.assertIn("Configuring the build", text)
        return text

    def test_a_command_takes_them_and_builds_nothing(self):
        text = self.ended_well(self.lab("grade", "scan"))
        self.assertNotIn("Configuring", text)
        self.assertFalse((self.dir / ".venv/bin/pip-calls").exists())
        tools = f"{self.dir}/build/prebuilt"
        self.assertEqual(self.asked(), f"{tools}: list\n{tools}: grade scan\n")
        self.ended_well(self.lab("check", "scan"))
        self.assertEqual(self.asked().count("list"), 1, "they are unpacked once")

    def test_the_grader_is_told_this_machines_compilers(self):
        self.ended_well(self.lab("setup"))
        here = self.dir
        self.assertEqual(
            (here / "build/prebuilt/toolchain.txt").read_text(),
            f"nvcc {here}/bin/nvcc\nnvcc -ccbin\nnvcc {here}/bin/g++\ncxx {here}/bin/g++\narch 90\n"
            f"folder {here}/cuda\nfolder {here}\nfolder {here}\nlibraries {here}/cuda/lib64\n",
        )

    def test_an_older_compiler_will_do(self):
        self.program("g++", 'case $1 in --version) echo "Free Software";; *) echo 11.4.0;; esac')
        self.ended_well(self.lab("grade"))

    def test_other_sources_are_built(self):
        self.ended_well(self.lab("grade"))
        (self.dir / "labs/scan/scan.cu").write_text("a student's")
        self.assertNotIn("Configuring", self.ended_well(self.lab("grade")))
        (self.dir / "labs/scan/lab.hpp").write_text("changed")
        self.goes_to_the_sources("files of this checkout are not those", "grade")
        text = self.lab("grade").communicate(timeout=60)[0]
        self.assertNotIn("can't be used", text, "that is said once")

    def test_sources_that_are_only_newer_are_no_others(self):
        self.ended_well(self.lab("grade"))
        os.utime(self.dir / "common/a.cpp", times=(2e9, 2e9))
        self.assertNotIn("Configuring", self.ended_well(self.lab("grade")))

    def test_an_update_brings_its_own_tools(self):
        self.ended_well(self.lab("grade"))
        (self.dir / "labs/scan/lab.hpp").write_text("corrected")
        self.pack('echo "new $@" >>"$LAB_ROOT/asked"')
        for path in (self.dir / "prebuilt").iterdir():
            os.utime(path, times=(2e9, 2e9))
        self.assertNotIn("Configuring", self.ended_well(self.lab("grade")))
        self.assertTrue(self.asked().endswith("new list\nnew grade\n"))

    def test_where_they_do_not_run_they_are_built(self):
        self.pack("exit 1")
        self.goes_to_the_sources("do not run here", "grade")

    def test_a_damaged_archive_is_not_unpacked(self):
        for archive in (self.dir / "prebuilt").glob("*.tar.gz"):
            archive.write_bytes(archive.read_bytes()[:-9])
        self.goes_to_the_sources("are not those", "grade")
        self.assertFalse((self.dir / "build/prebuilt/grader").exists())

    def test_an_older_c_library_or_cuda_version_needs_a_build(self):
        self.goes_to_the_sources("glibc 2.35 or later, and this is 2.31", "grade", GLIBC="2.31")
        self.without("nvcc")
        text = self.lab("setup", LAB_CUDA="12").communicate(timeout=60)[0]
        self.assertIn("they are for CUDA 13, and LAB_CUDA asks for 12", text)

    def test_what_needs_more_than_they_are_is_built(self):
        for words in [["test", "scan"], ["bench", "scan"], ["setup", "labs/scan_test"]]:
            self.lab(*words).communicate(timeout=60)
            self.assertEqual(self.asked(), "", words)
            self.assertTrue((self.dir / "build/lab-native.ini").exists())

    def test_a_graded_run_refuses_changed_tools(self):
        self.ended_well(self.lab("grade", "--graded"))
        library = self.dir / "build/prebuilt/common/library.so"
        library.chmod(0o644)
        library.write_text("by a student's program")
        before = self.asked()
        refused = self.lab("grade", "--graded")
        self.assertIn("are not those of this edition", refused.communicate(timeout=60)[0])
        self.assertEqual((refused.returncode, self.asked()), (1, before))
        self.ended_well(self.lab("setup"))
        self.ended_well(self.lab("grade", "--graded"))

    def test_the_doctor_asks_for_no_libraries(self):
        self.without("pkg-config")
        text = self.ended_well(self.lab("doctor"))
        self.assertRegex(text, r"(?m)^ok +Tools +prebuilt for")
        self.assertNotIn("pkg-config", text)


class Unpacked(Machine):
    """Without root: packages of apt, unpacked into .deps. Real compiler and pkg-config; all libraries but
    libelf are there. Their files have names that this machine's own libraries do not have."""

    FOLDER = "gpu labs für alle"
    TRIPLET = subprocess.run(
        ["g++", "-dumpmachine"], capture_output=True, text=True, check=True
    ).stdout.strip()

    def setUp(self):
        super().setUp()
        self.without("g++", "pkg-config")
        self.debs = self.dir / "debs"
        there = self.dir / "there"
        there.mkdir()
        for name in "fmt CLI11 nlohmann_json libzstd liblz4 stb libseccomp gtest gmock".split():
            (there / f"{name}.pc").write_text(f"Name: {name}\nDescription: {name}\nVersion: 1\n")
        lib = f"usr/lib/{self.TRIPLET}"
        self.package("libelf1", f"{lib}/libelf77.so.1", None)
        self.package("zlib1g", f"lib/{self.TRIPLET}/libz77.so.1", None)
        self.package("libelf-dev", f"{lib}/libelf77.so", "libelf77.so.1")
        self.package("zlib1g-dev", f"{lib}/libz77.so", f"/lib/{self.TRIPLET}/libz77.so.1")
        for package, name, more in [
            ("libelf-dev", "libelf", "Requires.private: zlib"),
            ("zlib1g-dev", "zlib", ""),
        ]:
            file = self.debs / package / lib / f"pkgconfig/{name}.pc"
            file.parent.mkdir()
            file.write_text(
                f"prefix=/usr\nlibdir=${{prefix}}/lib/{self.TRIPLET}\nincludedir=/usr/include\n\nName: {name}\nDescription: {name}\nVersion: 1\n"
                f"Cflags: -I${{includedir}}\nLibs: -L${{libdir}} -l{name.removeprefix('lib').removesuffix('lib')}77\n{more}\n"
            )
        header = self.debs / "libelf-dev/usr/include"
        header.mkdir()
        (header / "gelf.h").write_text("#include <config_of_zlib.h>\n")
        header = self.debs / "zlib1g-dev/usr/include" / self.TRIPLET  # g++ looks there only in /usr
        header.mkdir(parents=True)
        (header / "config_of_zlib.h").touch()
        self.program(
            "apt-get",
            """case $1 in
            install) for name in libelf1 zlib1g zlib1g-dev libelf-dev; do echo "Inst $name (1.0 Debian:12.0 [amd64])"; done ;;
            download) while [[ $2 = -* ]]; do shift 2; done; shift; for name; do touch "$name.deb"; done ;; esac""",
        )
        self.program(
            "dpkg",
            f"""name=$(basename "$2" .deb); cp -a {self.debs!s}/"$name"/. "$3" """.replace(
                str(self.debs), f"'{self.debs}'"
            ),
        )

    def package(self, name, file, leads_to):
        path = self.debs / name / file
        path.parent.mkdir(parents=True)
        if leads_to:
            path.symlink_to(leads_to)
        else:
            subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", path], check=True)

    def set_up(self, **environment):
        environment |= {"PATH": f"{self.dir}/bin:/usr/bin:/bin", "PKG_CONFIG_LIBDIR": str(self.dir / "there")}
        text, _ = self.run_tool("setup", root=False, **environment)
        folders = {"PKG_CONFIG_PATH": self.dir / ".deps/pkgconfig", "PKG_CONFIG_LIBDIR": self.dir / "there"}
        variables = {"PATH": "/usr/bin:/bin", **folders}
        asked = ["pkg-config", "--cflags", "--libs", "libelf"]
        return text, subprocess.run(asked, capture_output=True, text=True, env=variables).stdout

    def links(self, flags):
        program = ["g++", "-x", "c++", "-", "-x", "none", *flags.split(), "-o", "program"]
        source = "#include <gelf.h>\nint main() {}"
        subprocess.run(program, input=source, text=True, cwd=self.dir / "build", check=True)

    def test_what_a_library_needs_is_unpacked_and_linked_with(self):
        text, flags = self.set_up()
        self.assertNotIn("Some packages are missing", text)
        self.assertIn("-lelf77", flags)
        self.links(flags)

    def test_flags_hold_no_byte_that_pkg_config_would_change(self):
        for locale in ["C", "POSIX", "C.UTF-8"]:
            _, flags = self.set_up(LC_ALL=locale)
            self.assertIn("-lelf77", flags)
            self.assertTrue(flags.isascii())
            self.assertNotIn("\\", flags)

    def test_a_moved_checkout_finds_them_again(self):
        self.set_up()
        new = self.dir.parent / "лабы"
        self.dir.rename(new)
        self.dir = new
        self.program("apt-get", "exit 1")
        text, flags = self.set_up()
        self.assertNotIn("Some packages are missing", text)
        self.assertEqual((new / "build/deps").resolve(), new / ".deps")
        self.links(flags)

    def test_a_library_that_can_not_be_used_counts_as_missing(self):
        shutil.rmtree(self.debs / "libelf1")
        (self.debs / "libelf1").mkdir()
        text, flags = self.set_up()
        self.assertIn("Some packages are missing", text)
        self.assertEqual(flags, "")


class Cache(Machine):
    """A compiler cache that does not work is left aside."""

    def compiled(self, cache, *command):
        self.program("ccache", cache)
        self.program(
            "g++",
            f'echo "$@" >>{self.dir}/compiled; [[ $* != *wrong.cpp* ]] || {{ echo "wrong.cpp:1:1: error: no" >&2; exit 1; }}',
        )
        command, environment = (
            [self.dir / "common/tools/cache/ccache", *command],
            {"PATH": str(self.dir / "bin")},
        )
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=self.dir)
        file = self.dir / "compiled"
        calls = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return done, calls

    def test_the_compiler_runs_alone_where_the_cache_fails(self):
        for cache in [
            "echo 'ccache: error: Failed to create directory /root/.cache/ccache: Permission denied' >&2; exit 1",
            "exit 127",
        ]:
            done, calls = self.compiled(cache, "g++", "-c", "right.cpp")
            self.assertEqual((done.returncode, done.stderr, len(calls)), (0, "", 1), cache)

    def test_an_error_of_the_compiler_is_shown_once(self):
        done, calls = self.compiled('"$@"', "g++", "-c", "wrong.cpp")
        self.assertEqual((done.returncode, done.stderr, len(calls)), (1, "wrong.cpp:1:1: error: no\n", 1))

    def test_the_device_compiler_gets_its_options_alone(self):
        self.program("nvcc", f'echo "$@" >{self.dir}/nvcc-got')
        self.compiled('"$@"', str(self.dir / "bin/nvcc"), "-c", "a.cu")
        self.assertEqual((self.dir / "nvcc-got").read_text(), "-c a.cu\n")

    def test_both_compilers_are_called_through_it(self):
        self.program("ccache", "exit 0")
        self.run_tool("setup")
        native = (self.dir / "build/lab-native.ini").read_text()
        self.assertEqual(native.count(f"['{self.dir}/common/tools/cache/ccache', "), 2, native)


if __name__ == "__main__":
    unittest.main()
