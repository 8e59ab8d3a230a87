#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the random kernels notice a fault in an instruction? Plants one fault after the other into the op rows
and looks for a random kernel that computes something else then. The conformance suite, whose expectations are
the CPU's own, is tried on each fault, too.

usage: source build/.lab-stamp; PATH=$STAMP_PATH:$PATH common/simulator/sim/conformance/differential/try_op_faults.py [--build FOLDER] [PART_OF_A_FAULT ...]

All faults go into one copy of sim/ops, in which PLANTED_FAULT=k in the environment switches on the k-th; the
working tree stays as it is. Prints a line for each fault: the first random kernel that differs, and the
conformance test that fails. Exits 1 when the random kernels miss a fault. PART_OF_A_FAULT chooses faults by a
part of their text.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[5]
STEPS = (250, 1000, 4000, 10000)  # random kernels tried before a fault counts as missed

# File, text that occurs in it once with the expression between « and », the expression that takes its place.
FAULTS = [
    (
        "alu.hpp",
        "return static_cast<T>(«static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)» >> kBits<T>)",
        "static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b) + (Wider<T>{1} << (kBits<T> - 1))",
    ),
    (
        "alu.hpp",
        "static_cast<s32>(«std::clamp<s64>((s64{a} * b >> 32) + c, INT32_MIN, INT32_MAX)»",
        "std::min<s64>((s64{a} * b >> 32) + c, INT32_MAX)",
    ),
    (
        "alu.hpp",
        "return «static_cast<T>(static_cast<T>(static_cast<u32>(a) << 8) >> 8)»",
        "static_cast<T>(static_cast<u32>(a) & 0xffffff)",
    ),
    ("alu.hpp", "else if (b == 0)\n      return «static_cast<T>(~T{0})»", "T{0}"),
    ("alu.hpp", "if (b == 0) return «static_cast<T>(~T{0})»", "a"),
    ("alu.hpp", "return «std::max(Op::of(a, b), T{0})»", "Op::of(a, b)"),
    (
        "alu.hpp",
        "«by >= kBits<T> ? T{0} : static_cast<T>(a << by)»",
        "static_cast<T>(a << (by & (kBits<T> - 1)))",
    ),
    ("alu.hpp", "return «std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0}»", "T{0}"),
    ("alu.hpp", "funnel_right(a, b, «std::min(by, 32u)»)", "by & 31"),
    ("alu.hpp", "bits = «static_cast<Unsigned<T>>(~bits)»", "static_cast<Unsigned<T>>(0 - bits)"),
    ("alu.hpp", "«std::min(pos + len - 1, msb)»", "std::min(pos + len, msb)"),
    ("alu.hpp", "const T ones = «len >= kBits<T>»", "len > 31"),
    ("alu.hpp", "bit_mask(pos & 31, «len & 31»)", "len"),
    ("alu.hpp", "0x20) result |= «a & ~b & c»", "a & ~b"),
    ("alu.hpp", "return «(byte & 0x80) != 0 ? 0xff : 0»", "byte"),
    ("alu.hpp", "kSelect[Mode][«c & 3»]", "(Mode == 3 && (c & 3) == 2 ? 1 : c & 3)"),
    ("alu.hpp", "«static_cast<B>(b >> 8 * (k + 2 * kHigh))»", "static_cast<B>(b >> 8 * (k + kHigh))"),
    ("alu.hpp", "«at >= 0 && at < 32»", "at > 0 && at < 32"),
    ("alu.hpp", "return «!(a >= b)»", "a < b"),
    ("alu.hpp", "return «c > -std::numeric_limits<C>::min()» ? a : b", "c >= C{0}"),
    ("alu.hpp", "return «c >= C{0}» ? a : b", "c > C{0}"),
    (
        "alu.hpp",
        "«std::clamp<s64>(s64{a} + b, INT32_MIN, INT32_MAX)»",
        "std::clamp<s64>(s64{a} + b, INT32_MIN + 1, INT32_MAX)",
    ),
    ("alu.hpp", "wide < low ? low : «wide > high ? high : wide»", "wide"),
    ("float.hpp", "? «std::copysign(0.0f, a)» : a", "0.0f"),
    (
        "float.hpp",
        "return «a > T{0} ? (a < T{1} ? a : T{1}) : T{0}»",
        "a < T{0} ? T{0} : (a < T{1} ? a : T{1})",
    ),
    ("float.hpp", "return «std::fma(a, b, c)»", "a * b + c"),
    ("float.hpp", "kMax ? x < y || «(x == y && std::signbit(x))»", "false"),
    ("float.hpp", "return «magnitude(a) == 0» ||", "false"),
    ("float.hpp", "if («r >= past»)", "r > past"),
    ("float.hpp", "return static_cast<To>(«u64{1} << (kBits<To> - 1)»)", "u64{0}"),
    ("float.hpp", "return «std::nearbyint(a)»", "std::round(a)"),
    ("float.hpp", "return «std::copysign(b, a)»", "std::copysign(a, b)"),
    ("narrow.hpp", "«(rest == half && (quotient & 1) != 0)»", "rest == half"),
    (
        "narrow.hpp",
        "«std::bit_cast<u32>(std::bit_cast<f32>(magnitude) * 0x1p112f)»",
        "(magnitude == 0 ? 0 : magnitude + 0x38000000)",
    ),
    ("narrow.hpp", "return «(bits & 1) == 0 && (error > 0 || error < 0)» ?", "false"),
    ("narrow.hpp", "return «is_nan<Format>(a)» ? u16{0x7fff} : static_cast<u16>(a ^ 0x8000)", "false"),
    (
        "half_rows.cpp",
        "Op::of(Format::widen(flush_half<Format>(a, ftz)), Format::widen(«flush_half<Format>(b, ftz)»))",
        "b",
    ),
    ("any_convert_rows.cpp", "Round::down: away = «negative»", "!negative"),
    ("any_convert_rows.cpp", "nearest_away: away = «above || tie»", "above || (tie && (quotient & 1) != 0)"),
    (
        "any_convert_rows.cpp",
        "if («c.satfinite && encoded >= f.infinity»)",
        "c.satfinite && encoded > f.infinity",
    ),
    ("any_convert_rows.cpp", "if («c.relu && n.negative»)", "false"),
    ("any_convert_rows.cpp", "clamp<s32>(a, «std::numeric_limits<T>::min()», std", "T{0}"),
    ("any_convert_rows.cpp", "c.from == kF32 && «n.significand < (u64{1} << 23)»", "false"),
    (
        "carry_rows.cpp",
        "static_cast<T>(wide);\n    out |= «static_cast<u32>(wide >> (8 * sizeof(T)) & 1)» << i",
        "static_cast<u32>(wide >> (8 * sizeof(T)) & 1) ^ static_cast<u32>(Subtract)",
    ),
    ("carry_rows.cpp", "static_cast<u128>(product) + c[i] + («In ? in >> i & 1 : 0»)", "0"),
    ("rounding_rows.cpp", "std::fesetround(«kMode»)", "(kMode == FE_DOWNWARD ? FE_TOWARDZERO : kMode)"),
    ("warp_rows.cpp", "from = lane - by;\n      valid = «from >= last»", "from > last"),
    ("warp_rows.cpp", "«(p & peers) == peers || (p & peers) == 0»", "(p & peers) == peers"),
    (
        "warp_rows.cpp",
        "for (u32 m = «peers & (peers - 1)»; m != 0; m &= m - 1)\n        value",
        "peers & (peers - 1) & 0x7fffffff",
    ),
    (
        "warp_rows.cpp",
        "leader[i] = static_cast<u32>(«std::countr_zero(peers)»)",
        "31 - std::countl_zero(peers)",
    ),
    ("alu.hpp", "x < y ? «y - x» : x - y", "x - y"),
    ("atomic_rows.cpp", "return «old >= bound» ? T{0}", "old > bound"),
    ("atomic_rows.cpp", "return «old == 0 || old > bound» ? bound", "old == 0"),
    ("atomic_rows.cpp", "return «alu::Ftz<alu::Add>::of(old, b)»", "alu::Plain<alu::Add>::of(old, b)"),
    ("atomic_rows.cpp", "(«old0 == b0[i] && old1 == b1[i]»)", "old0 == b0[i]"),
    (
        "atomic_rows.cpp",
        "return static_cast<u32>(«Op::of(0, static_cast<u16>(old >> 16), static_cast<u16>(b >> 16))») << 16 | low",
        "static_cast<u16>(old >> 16)",
    ),
    (
        "load_store_rows.cpp",
        "static_cast<Wide>(source[«i * Count»])",
        "(sizeof(T) == 1 && Count == 4 ? i * Count ^ 4 : i * Count)",
    ),
    (
        "matrix_rows.cpp",
        "case Element::s8: return «static_cast<s8>(word >> 8 * j)»",
        "static_cast<u8>(word >> 8 * j)",
    ),
    (
        "matrix_rows.cpp",
        "std::clamp<s64>(value, «std::numeric_limits<s32>::min()», std",
        "std::numeric_limits<s32>::min() + 1",
    ),
    ("matrix_rows.cpp", "std::popcount(«form.conjunction» ? x & y : x ^ y)", "!form.conjunction"),
    (
        "matrix_rows.cpp",
        "result[i] = element(column, row) | «element(column + 1, row)» << 16",
        "element(column + 1, row == 7 ? 6 : row)",
    ),
    (
        "async_rows.cpp",
        "op.src[2] == MicroOp::kNoSlot ? op.width : «std::min<u32>(w.slot<u32>(op.src[2])[i], op.width)»",
        "op.width",
    ),
]


def planted(text, faults):
    """The source with its faults; each is (number, context, expression)."""
    for number, context, new in faults:
        before, old, after = re.fullmatch("(.*)«(.*)»(.*)", context, re.DOTALL).groups()
        plain = before + old + after
        if text.count(plain) != 1:
            sys.exit(f"fault {number}: occurs {text.count(plain)} times: {plain}")
        text = text.replace(plain, f"{before}(planted_fault == {number} ? ({new}) : ({old})){after}")
    return text


def make_copy(folder):
    shutil.copytree(ROOT / "common/simulator/sim/ops", folder / "sim/ops")
    (folder / "planted.hpp").write_text(
        "#include <cstdlib>\n"
        'inline const int planted_fault = std::getenv("PLANTED_FAULT") ? std::atoi(std::getenv("PLANTED_FAULT")) : -1;\n'
    )
    for name in {fault[0] for fault in FAULTS}:
        file = folder / "sim/ops" / name
        chosen = [(number, context, new) for number, (of, context, new) in enumerate(FAULTS) if of == name]
        file.write_text(planted(file.read_text(encoding="utf-8"), chosen), encoding="utf-8")


def compile_engine(build, folder, isa):
    """Compiles the copy as the build does with the real sources; returns the objects."""
    objects = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        output = pathlib.PurePath(entry["output"])
        if output.parts[-2] not in (f"libsim_{isa}.a.p", f"libsim_rounding_{isa}.a.p"):
            continue
        source = folder / (output.stem)
        text = (
            (build / entry["file"]).read_text(encoding="utf-8")
            if "unity" in output.name
            else f"#include <{ROOT}/{entry['file'][3:]}>\n"
        )
        source.write_text(
            re.sub(r"<.*/(sim/ops/\w+\.cpp)>", lambda found: f'"{folder / found[1]}"', text), encoding="utf-8"
        )
        target = folder / output.name
        command = (
            entry["command"]
            .replace(f" -o {output} ", f" -o {target} ")
            .replace(f" -c {entry['file']}", f" -c {source}")
        )
        command = (
            re.sub(r" -M[MQF]D?( \S+\.(o|d))?|( -MD)| -g1?(?= )", "", command)
            .replace(" -O3", " -O1")
            .replace(" -I", f" -include {folder}/planted.hpp -I{folder} -I", 1)
        )
        subprocess.run(command + " -w", shell=True, cwd=build, check=True)
        objects.append(target)
    return objects


def link(build, folder, objects, target, output):
    """Links `target` of the build again, with the objects in place of those of the same names in libsim.a."""
    commands = subprocess.run(
        ["ninja", "-C", str(build), "-t", "commands", target], check=True, capture_output=True, text=True
    ).stdout
    command = [line for line in commands.splitlines() if f" -o {target} " in line][-1]
    archive = re.search(r"common/simulator/sim/libsim(_\w+_alone)?\.a", command)[0]
    ours = folder / "libsim.a"
    shutil.copy(build / archive, ours)
    subprocess.run(["ar", "r", str(ours), *map(str, objects)], check=True)
    subprocess.run(
        command.replace(archive, str(ours)).replace(f" -o {target} ", f" -o {output} "),
        shell=True,
        cwd=build,
        check=True,
    )


def digests(program, cudart, first, count, fault=None):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(cudart), SIM_QUIET="1")
    if fault is not None:
        environment["PLANTED_FAULT"] = str(fault)
    ran = subprocess.run(
        [str(program), str(first), str(count)], env=environment, capture_output=True, text=True, check=False
    )
    return ran.stdout.splitlines() + ([] if ran.returncode == 0 else [f"ended with {ran.returncode}"])


class RandomKernels:
    def __init__(self, program, cudart):
        self.program, self.cudart = program, cudart
        self.right = []

    def first_differing(self, fault):
        """The first random kernel that the fault changes, and how many were tried; None where it changes
        none."""
        done = 0
        for count in STEPS:
            while len(self.right) < count:
                self.right += digests(self.program, self.cudart, len(self.right) + 1, count - len(self.right))
            got = digests(self.program, self.cudart, done + 1, count - done, fault)
            for line, expected in zip(got, self.right[done:count]):
                if line != expected:
                    return expected.split()[0]
            done = count
        return None


def failing_test(program, fault):
    """The first conformance test that fails with the fault."""
    ran = subprocess.run(
        [str(program), "--gtest_filter=Conformance.*:-Conformance.Every*", "--gtest_brief=1"],
        env=dict(os.environ, PLANTED_FAULT=str(fault)),
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.search(r"FAILED  \] Conformance\.(\w+)", ran.stdout)
    return failed[1] if failed else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("parts", nargs="*", help="only faults whose file or text has one of these in it")
    options = parser.parse_args()
    build = options.build.resolve()
    isa = next(
        isa
        for isa in ("avx512", "avx2", "portable")
        if list((build / f"common/simulator/sim/libsim_{isa}.a.p").glob("*.o"))
    )
    test, library, program = (
        f"common/simulator/sim/sim_test_{isa}",
        "common/simulator/cudart/libcudart.so.13",
        "common/simulator/sim/differential",
    )
    subprocess.run(["ninja", "-C", str(build), test, library, program], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_copy(folder)
        objects = compile_engine(build, folder, isa)
        link(build, folder, objects, library, folder / "libcudart.so.13")
        link(build, folder, objects, test, folder / "sim_test")
        kernels = RandomKernels(build / program, folder)
        missed = tried = 0
        for number, (file, context, new) in enumerate(FAULTS):
            if options.parts and not any(part in file + context for part in options.parts):
                continue
            begin = time.monotonic()
            seed, failed = kernels.first_differing(number), failing_test(folder / "sim_test", number)
            tried += 1
            missed += seed is None
            print(
                f"{file}: {' '.join(context.split())} -> {new}: "
                + (f"kernel {seed}" if seed else f"MISSED by {STEPS[-1]} kernels")
                + (f", conformance {failed}" if failed else ", MISSED by conformance")
                + f" ({time.monotonic() - begin:.0f} s)",
                flush=True,
            )
        print(f"{tried} faults, {missed} missed by the random kernels")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
