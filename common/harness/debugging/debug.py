#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./lab debug: compiles what is to be debugged, and opens a front end on it. Called by `lab` with LAB_ROOT,
LAB_BUILD and NVCC."""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

COMMON = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(COMMON / "simulator/debug"), str(COMMON / "tools")]
from dap import Adapter
from debugger import Debugger, Ended, Refused
from terminal import Terminal
from waiting import Waiting

EPILOG = """\
Runs the kernels on the simulator, GPU or not, and stops at the first launch.
"help" lists the commands: breakpoints with conditions, steps forwards and
backwards, variables of all 32 lanes, who wrote an element, and when.

Examples:
  ./lab debug reduction neighboured
  ./lab debug scan blelloch --case exclusive_sum_i32_n33_row33_random --wrong
  ./lab debug program.cu argument
  ./lab debug reduction shuffle --commands session.txt

The file is compiled as by ./lab sanitize, but without optimisation and machine
code (nvcc -G -g, PTX only), so that variables can be seen. This is other code
than the one that is graded, and its use of registers is not checked.
--optimised takes the code that ./lab sanitize runs, with sm_90 machine code;
it has lines but no variables.
"""


def say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./lab debug",
        usage="./lab debug LAB TASK [--case NAME]\n       ./lab debug PROGRAM.cu [ARGUMENT…]",
        description="Stops a kernel, steps it forwards and backwards, shows its variables.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="LAB|PROGRAM.cu", help="a lab, or a CUDA program's source or binary")
    parser.add_argument(
        "rest", nargs="*", metavar="TASK|ARGUMENT", help="the lab's task, or the program's arguments"
    )
    parser.add_argument("--case", help="a case, by its name in a report")
    parser.add_argument("--n", help="items of the lab's example (8)")
    parser.add_argument("--solutions", action="store_true", help="the reference solution")
    parser.add_argument(
        "--optimised", action="store_true", help="the code that is graded: lines, but no variables"
    )
    parser.add_argument(
        "--nvcc",
        metavar="OPTIONS",
        help='more options for the compiler of PROGRAM.cu, such as --nvcc="-O2 -rdc=true"',
    )
    parser.add_argument("--no-checks", action="store_true", help="without checkers, which is faster")
    parser.add_argument(
        "--seed", help="the seed, from a report: of a lab's items and schedule, or of a program's schedule"
    )
    parser.add_argument(
        "--wrong",
        action="store_true",
        help="begin at the store that made the output of a lab's case wrong: of --case, or of the last grade's",
    )
    parser.add_argument("--commands", metavar="FILE", help="read commands from a file")
    parser.add_argument(
        "--dap", action="store_true", help="alone: speak the Debug Adapter Protocol, for editors"
    )
    # What follows "--" is the program's, even if it begins with a dash.
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_intermixed_args(arguments[:cut])
    options.rest += arguments[cut + 1 :]
    return options


def compile_program(
    root: pathlib.Path, source: pathlib.Path, program: pathlib.Path, optimised: bool, more: list[str]
) -> None:
    """As ./lab sanitize does, but unless `optimised`, with -G."""
    flags = [*([] if optimised else ["-G"]), *more]
    command: list = ["bash", root / "common/tools/compile_program.sh", source, program, *flags]
    with Waiting(f"Compiling {source.name}"):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
        raise Refused("the file does not compile")


def case_of_last_grade(build: pathlib.Path, lab: str, task: str) -> tuple[str | None, str | None]:
    """The case that ./lab grade found wrong last, and its seed (grader/cli/smallest.cpp writes the file)."""
    kept = build / "wrong_cases" / f"{lab}.{task}"
    found = re.search(r"--case (\S+) --seed (\S+)", kept.read_text() if kept.is_file() else "")
    return (found[1], found[2]) if found else (None, None)


def build_lab(
    options: argparse.Namespace, root: pathlib.Path, build: pathlib.Path, folder: pathlib.Path
) -> list[str]:
    lab = options.what
    if len(options.rest) != 1:
        raise Refused(f'name a task: ./lab debug {lab} TASK ("./lab list" shows them)')
    if "most_devices" in (root / f"labs/{lab}/points.hpp").read_text(encoding="utf-8"):
        raise Refused(
            f"{lab} is for several devices, which the debugger cannot step: ./lab trace {lab} TASK, ./lab check {lab}"
        )
    source = root / ("solutions" if options.solutions else "labs") / lab / f"{lab}.cu"
    program = folder / lab
    flags = [f"-I{root / part}" for part in ("common", "common/harness", "labs", "solutions")]
    flags += [f"-DCOURSE_LAB={lab}", f"-L{build}/common/harness/debugging", "-llab_case"]
    main_program = str(root / "common/harness/debugging/lab_main.cpp")
    compile_program(root, source, program, options.optimised, [main_program, *flags])
    if options.wrong and not (options.case or options.n or options.solutions):
        options.case, options.seed = case_of_last_grade(build, lab, options.rest[0])
    command = [str(program), lab, options.rest[0]]
    for name in ("case", "n", "seed"):
        if value := getattr(options, name):
            command += [f"--{name}", value]
    return command


def build_program(options: argparse.Namespace, root: pathlib.Path, folder: pathlib.Path) -> list[str]:
    path = pathlib.Path(options.what)
    if not path.is_file():
        raise Refused(f"there is no lab and no file {path}")
    if path.suffix == ".cu":
        if re.search(
            r'^\s*#\s*include\s*"[a-z0-9_]*/lab\.hpp"', path.read_text(errors="replace"), re.MULTILINE
        ):
            raise Refused(f"{path} is a lab's file, which has no main: ./lab debug {path.stem} TASK")
        program = folder / path.stem
        compile_program(root, path, program, options.optimised, shlex.split(options.nvcc or ""))
        path = program
    elif not os.access(path, os.X_OK):
        raise Refused(f"{path} is neither a program nor a .cu file")
    return [str(path.resolve()), *options.rest]


def start(options: argparse.Namespace, folder: pathlib.Path) -> Debugger:
    """Compiles what is to be debugged, and runs it to its first launch."""
    root, build = pathlib.Path(os.environ["LAB_ROOT"]), pathlib.Path(os.environ["LAB_BUILD"])
    is_lab = (root / "labs" / options.what / f"{options.what}.cu").is_file()
    command = build_lab(options, root, build, folder) if is_lab else build_program(options, root, folder)
    if options.wrong and not is_lab:
        raise Refused("--wrong needs a lab's task: of another program the right output is not known")
    environment = {"SIM_MODE": "fast" if options.no_checks else "checks"}
    if options.seed and not is_lab:
        environment["SIM_SCHEDULE_SEED"] = options.seed
    libraries = f"{build}/common/simulator/debug:{build}/common/harness/debugging"
    debugger = Debugger(command, libraries, environment)
    try:
        debugger.begin()
    except (Refused, Ended) as error:
        text = debugger.output() + (str(error) or "the program has crashed, or was killed")
        debugger.close()
        raise Refused(text) from error
    return debugger


def options_of(launch: dict) -> argparse.Namespace:
    """The options that a launch request of the Debug Adapter Protocol stands for."""
    what, arguments = launch.get("lab") or launch.get("program"), []
    if not what:
        raise Refused('the launch configuration needs "lab" and "task", or "program"')
    for name in ("case", "n", "seed", "nvcc"):
        if launch.get(name) is not None:
            arguments += [f"--{name}", str(launch[name])]
    arguments += [f"--{name}" for name in ("solutions", "optimised") if launch.get(name)]
    arguments += [] if launch.get("checks", True) else ["--no-checks"]
    arguments += ["--wrong"] if launch.get("lab") and launch.get("stopAtWrongStore") else []
    rest = [launch["task"]] if launch.get("task") else []
    return parse([what, *arguments, "--", *rest, *map(str, launch.get("args", []))])


def main(arguments: list[str]) -> int:
    if arguments == ["--dap"]:
        with tempfile.TemporaryDirectory(prefix="lab-debug-") as place:
            Adapter(lambda launch: start(options_of(launch), pathlib.Path(place))).serve()
        return 0
    options = parse(arguments)
    debugger = None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lab-debug-"))
    try:
        debugger = start(options, folder)
        terminal = Terminal(debugger)
        interactive = sys.stdin.isatty() and not options.commands
        if not options.optimised:
            terminal.say("Compiled with -G: not the code that is graded (--optimised takes that).")
        if options.wrong:
            terminal.command("wrong")
        else:
            terminal.show_stop()
        with (
            open(options.commands, encoding="utf-8") if options.commands else open(0, closefd=False) as lines
        ):
            terminal.loop(iter(lines), interactive)
        return 0
    except Refused as error:
        say(str(error))
        return 2
    finally:
        if debugger:
            debugger.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
