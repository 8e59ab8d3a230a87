# SPDX-License-Identifier: MIT
"""Lab 3: flags, scan and scatter; a ballot; offsets over three blocks; a look-back whose tile 2 is late."""

from worked import ITEMS, exclusive, fenced, row, table

LIMIT = 4  # keep: less than it


def flags() -> list[int]:
    return [int(item < LIMIT) for item in ITEMS]


def pack() -> str:
    kept = flags()
    places, total = exclusive(kept)
    positions = [p if f else "" for p, f in zip(places, kept)]
    out = [item for item, flag in zip(ITEMS, kept) if flag]
    lines: list[tuple] = [
        ("items", ITEMS, f"the predicate keeps items less than {LIMIT}"),
        ("flags", kept, "map: each item on its own"),
        ("exclusive scan", places, "scan: ⌈log₂ n⌉ steps"),
        ("position", positions, "scatter: each kept item to its position"),
        ("", [], ""),
        ("output", out + [""] * (len(ITEMS) - len(out)), f"count: {places[-1]} + {kept[-1]} = {total}"),
    ]
    texts = (
        f"{name:<17}" + "".join(f"{v:<4}" for v in values) + f"    {says}" for name, values, says in lines
    )
    return fenced("\n".join(map(str.rstrip, texts)))


def ballot(lane: str | int = "5") -> str:
    lane = int(lane)
    word = sum(flag << i for i, flag in enumerate(flags()))
    below = (1 << lane) - 1

    def bits(value: int) -> list[int]:
        return [value >> i & 1 for i in reversed(range(8))]

    rows = [
        ["ballot: the flags", *bits(word), f"{word.bit_count()}, the warp's count"],
        [f"`below`: the lanes below lane {lane}", *bits(below), ""],
        ["`ballot & below`", *bits(word & below), f"{(word & below).bit_count()}, the rank of lane {lane}"],
    ]
    return table(["lane", *reversed(range(8)), "`__popc`"], rows)


def blocks() -> str:
    threads, n, totals = 256, 600, [131, 120, 47]  # of three blocks, as a run may find them
    sizes = [min(threads, n - first) for first in range(0, n, threads)]
    before, _ = exclusive(totals)

    def line(name: str, cells: list[str], launch: str = "") -> str:
        return (f"{name:<22}" + "".join(f"{c:<14}" for c in cells) + launch).rstrip()

    flagged = [f"| {s}" + " flags" * (i == 0) for i, s in enumerate(sizes)]
    lines = [
        line(f"n = {n}     flags", flagged, "k02_scan_blocks<<<3>>>"),
        line("            totals", [f"  {t}" for t in totals], "k02_scan_blocks<<<1>>>"),
        line("            scanned", [f"  {b}" for b in before]),
        line("            positions", [f"| + {b}" for b in before], "k02_add_offsets<<<3>>>"),
    ]
    return fenced("\n".join(lines))


def look_back() -> str:
    kept = [5, 3, 6, 2]
    prefix = [sum(kept[: t + 1]) for t in range(4)]
    state = ["nothing"] * 4
    rows: list = []

    def begins(tile: int) -> int:
        return prefix[tile] - kept[tile]

    def show(what: str, *changes: tuple[int, str]) -> None:
        for tile, word in changes:
            state[tile] = word
        new = {tile for tile, _ in changes} if rows else set()
        rows.append([what, *(f"**{w}**" if t in new else w for t, w in enumerate(state))])

    total, whole = [f"aggregate {k}" for k in kept], [f"prefix {p}" for p in prefix]
    first = "tiles 0, 1 and 3 publish their totals; tile 0 publishes a prefix, because no tile is before it"
    show(first, (0, whole[0]), (1, total[1]), (3, total[3]))
    show(f"tile 1 looks back and finds {whole[0]}; its output begins at {begins(1)}", (1, whole[1]))
    show("tile 3 looks back; nothing is available of tile 2, so tile 3 reads again")
    show("tile 2 publishes its aggregate", (2, total[2]))
    show(f"tile 3 finds {total[2]} and {whole[1]}; its output begins at {begins(3)}", (3, whole[3]))
    show(f"tile 2 finds {whole[1]}; its output begins at {begins(2)}", (2, whole[2]))
    return f"Tiles 0 to 3 keep {row(kept[:3]).replace(' ', ', ')} and {kept[3]} items.\n\n" + table(
        ["what happens", *(f"tile {t}" for t in range(4))], rows
    )
