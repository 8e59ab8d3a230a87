#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the simulator and the labs' problems to WebAssembly, from the sources of the native build.

    build_wasm.py BUILD                 # makes BUILD/play/machine.js and machine.wasm
    build_wasm.py BUILD --syntax-only   # compiles nothing, but reports what does not compile: takes a minute

Meson's description of the targets in BUILD says which sources these are, so no list is kept here. Needs
emscripten (Debian's package is enough); without it the exit code is 77 and a line says so. Its own libraries
are compiled once, into BUILD/play/cache: this takes some minutes.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
# The targets whose sources are compiled.
TARGETS = (
    r"demangle|ptx|sim|sim_machine|sim_checkers|sim_lanes|sim_shared|sim_portable|sim_rounding_portable"
    r"|lab|registry|problem_(?!several$)\w+"
)
# As in the native build: no contraction, no traps. One thread, so nothing waits for a lock.
COMPILE = """-std=c++20 -Os -fwasm-exceptions -fno-math-errno -ffp-contract=off -DFMT_HEADER_ONLY -DJSON_HAS_CPP_20=0
 -DSIM_ISA=portable -DSIM_HAVE_PORTABLE -w""".split()
LINK = """-Os -fwasm-exceptions -sMODULARIZE=1 -sEXPORT_NAME=make_machine -sENVIRONMENT=worker,node -sFILESYSTEM=0
 -sINITIAL_MEMORY=134217728 -sALLOW_MEMORY_GROWTH=0 -sTOTAL_STACK=1048576 -sABORTING_MALLOC=0
 -sEXPORTED_FUNCTIONS=_play,_malloc,_free -sEXPORTED_RUNTIME_METHODS=UTF8ToString,stringToUTF8,lengthBytesUTF8
 -sINCOMING_MODULE_JS_API=wasmBinary,instantiateWasm,print,printErr --minify=0""".split()


def units(build: pathlib.Path) -> Iterator[tuple[str, str]]:
    """The .cpp files of the libraries in TARGETS, as the native build has them: name of the object and path."""
    targets = json.loads((build / "meson-info/intro-targets.json").read_text(encoding="utf-8"))
    for target in targets:
        if not re.fullmatch(TARGETS, target["name"]) or target["type"] != "static library":
            continue
        kinds = ("sources", "generated_sources")
        files = [f for part in target["target_sources"] for kind in kinds for f in part.get(kind, [])]
        for k, path in enumerate(file for file in files if file.endswith(".cpp")):
            yield f"{target['name']}{k}", path


def write(path: pathlib.Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def include_folder(out: pathlib.Path) -> pathlib.Path:
    """fmt and json alone: beside them in /usr/include are the host's headers of the C library."""
    folder = out / "include"
    folder.mkdir(exist_ok=True)
    for package, header in {"fmt": "fmt/format.h", "nlohmann_json": "nlohmann/json.hpp"}.items():
        flags = subprocess.run(
            ["pkg-config", "--cflags-only-I", package], capture_output=True, text=True
        ).stdout
        tried = [flag[2:] for flag in flags.split()] + ["/usr/include", "/usr/local/include"]
        place = next((p for p in tried if (pathlib.Path(p) / header).exists()), None)
        if place is None:
            sys.exit(f"build_wasm.py: no {header}")
        link, there = folder / header.split("/")[0], pathlib.Path(place) / header.split("/")[0]
        if not link.is_symlink() or os.readlink(link) != str(there):
            link.unlink(missing_ok=True)
            link.symlink_to(there)
    return folder


def environment(out: pathlib.Path) -> "dict | os._Environ":
    """Emscripten with a cache of its own: Debian's may not be written to, and lacks what exceptions need."""
    config = pathlib.Path(shutil.which("emcc")).resolve().parent / ".emscripten"
    if "EM_CONFIG" in os.environ or not config.exists():
        return os.environ
    text = re.sub(r"^FROZEN_CACHE.*$", "", config.read_text(encoding="utf-8"), flags=re.M)
    write(out / "emscripten.cfg", f"{text}\nFROZEN_CACHE = False\n")
    # Debian's own node finds its modules there by itself, others do not.
    defaults = {"EM_CACHE": str(out / "cache"), "NODE_PATH": "/usr/share/nodejs"}
    return defaults | os.environ | {"EM_CONFIG": str(out / "emscripten.cfg")}


def check_syntax(out: pathlib.Path, flags: list, paths: list) -> int:
    """Compiles the sources without generating code; only the headers of emscripten's libraries are needed."""
    command = ["emcc", *map(str, flags), "-fsyntax-only"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(
            pool.map(lambda path: subprocess.run([*command, path], env=environment(out)).returncode, paths)
        )
    failed = [str(path) for path, code in zip(paths, runs) if code != 0]
    print(f"{len(paths) - len(failed)} of {len(paths)} sources compile for a page")
    return 1 if failed else 0


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("emcc") is None:
        print("There is no emcc here, so nothing is compiled to WebAssembly: apt-get install emscripten")
        sys.exit(SKIPPED)
    out = build / "play"
    out.mkdir(parents=True, exist_ok=True)
    include = include_folder(out)
    rooms = ("common", "common/simulator", "common/harness", "labs", "grader")
    flags = [*COMPILE, "-isystem", include, "-include", HERE / "older_library.hpp"]
    flags += [f"-I{ROOT / room}" for room in rooms]
    sources = [*units(build), ("player", HERE / "player.cpp"), ("entry", HERE / "entry.cpp")]
    if sys.argv[2:] == ["--syntax-only"]:
        sys.exit(check_syntax(out, flags, [path for _, path in sources]))
    lines = [
        "rule compile",
        f"  command = emcc {' '.join(map(str, flags))} -MMD -MF $out.d -c $in -o $out",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule link",
        f"  command = emcc {' '.join(LINK)} $in -o $out",
    ]
    objects = []
    for name, path in sources:
        objects.append(f"{name}.o")
        lines.append(f"build {name}.o: compile {path}")
    lines.append(f"build machine.js | machine.wasm: link {' '.join(objects)}")
    write(out / "build.ninja", "\n".join(lines) + "\n")
    jobs = ["-j", os.environ["PLAY_JOBS"]] if "PLAY_JOBS" in os.environ else []
    sys.exit(subprocess.run(["ninja", *jobs, "-C", out, *sys.argv[2:]], env=environment(out)).returncode)


if __name__ == "__main__":
    main()
