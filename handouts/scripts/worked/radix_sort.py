# SPDX-License-Identifier: MIT
"""Lab 4: the split bit by bit, a bitonic merge, a pass by digits, a look-back, and the flips of keys."""

import struct

from worked import ITEMS, exclusive, marked, row, table


def split_once(keys: list[int], bit: int) -> tuple[dict[str, list[int]], int]:
    """What one pass computes: b, e, f, t, d, the number of zeros, and the keys in their new order."""
    b = [key >> bit & 1 for key in keys]
    e = [1 - x for x in b]
    f, zeros = exclusive(e)
    t = [i - f[i] + zeros for i in range(len(keys))]
    d = [t[i] if b[i] else f[i] for i in range(len(keys))]
    out = [0] * len(keys)
    for key, place in zip(keys, d):
        out[place] = key
    return {"key": keys, "b": b, "e": e, "f": f, "t": t, "d": d, "**out**": out}, zeros


def split() -> str:
    keys, tables = ITEMS, []
    for bit in range(3):
        rows, zeros = split_once(keys, bit)
        note = {"f": f"totalFalses = {rows['e'][-1]} + {rows['f'][-1]} = {zeros}"}
        keys = rows["**out**"]
        lines = [
            [name, *(f"**{v}**" if name == "**out**" else v for v in values), note.get(name, "")]
            for name, values in rows.items()
        ]
        tables.append(table([f"bit {bit}", *[""] * 9], lines))
    return "\n".join(tables)


def halves(values: list) -> str:
    return f"{row(values[:4])} · {row(values[4:])}"


def merge() -> str:
    keys = sorted(ITEMS[:4]) + sorted(ITEMS[4:])
    stages = [("flip", [(i, 7 - i) for i in range(4)])]
    stages += [(f"stride {s}", [(i, i + s) for i in range(8) if not i & s]) for s in (2, 1)]
    rows = [["", "", halves(keys)]]
    for name, pairs in stages:
        before = list(keys)
        for low, high in pairs:
            keys[low], keys[high] = min(keys[low], keys[high]), max(keys[low], keys[high])
        written = marked(keys, before).split()
        rows.append([name, row(f"{a}–{b}" for a, b in pairs), halves(written)])
    return table(["stage", "compared positions", "keys"], rows)


def by_digits() -> str:
    tiles, bits = [ITEMS[:4], ITEMS[4:]], 2
    digit = lambda key: key & ((1 << bits) - 1)  # noqa: E731
    order = [(d, t) for d in range(1 << bits) for t in range(len(tiles))]
    counts = [sum(digit(key) == d for key in tiles[t]) for d, t in order]
    starts, _ = exclusive(counts)
    rows = [
        ["tile", *(t for _, t in order)],
        [f"count in `{row(tiles[0])} · {row(tiles[1])}`", *counts],
        ["start", *starts],
    ]
    following, sent, out = dict(zip(order, starts)), [], [0] * len(ITEMS)
    for t, keys in enumerate(tiles):
        moves: list[str] = []
        for key in keys:
            place = following[digit(key), t]
            following[digit(key), t] += 1
            out[place] = key
            moves.append(f"{key} to position {place}" if not moves else f"{key} to {place}")
        sent.append(f"Tile {t} moves {', '.join(moves)}.")
    text = table(["digit", *(d for d, _ in order)], rows)
    return (
        f"{text}\n{' '.join(sent)} The result is `{row(out)}`, the same as after two passes of the split.\n"
    )


def look_back() -> str:
    own = [5, 2, 0, 4]
    everything = [sum(own[: t + 1]) for t in range(4)]
    rows = [
        ["keys of the digit", *own],
        ["published first", f"prefix {everything[0]}", *(f"aggregate {k}" for k in own[1:])],
        ["tile 3 reads", "", f"prefix {everything[1]}", f"aggregate {own[2]}", ""],
        ["published after the look-back", "", *(f"prefix {k}" for k in everything[1:])],
    ]
    return table(["tile", 0, 1, 2, 3], rows)


def flips() -> str:
    top, every = 1 << 31, (1 << 32) - 1

    def signed(value: int) -> tuple[int, int]:
        bits = value & every
        return bits, bits ^ top

    def floating(value: float) -> tuple[int, int]:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        return bits, bits ^ (every if bits & top else top)

    negative = "float with sign bit 1: flip all bits"
    keys = [
        ("int −2", signed(-2), "signed: flip the top bit"),
        ("int −1", signed(-1), "signed: flip the top bit"),
        ("int 0", signed(0), "signed: flip the top bit"),
        ("float −2", floating(-2.0), f"{negative} (a larger magnitude is a smaller number)"),
        ("float −0", floating(-0.0), negative),
        ("float +0", floating(0.0), "float with sign bit 0: flip the top bit"),
        ("float 1", floating(1.0), "float with sign bit 0: flip the top bit"),
    ]
    rows = [[name, f"`{b:08x}`", f"`{f:08x}`", rule] for name, (b, f), rule in keys]
    return table("key | bits | flipped | rule", rows)
