# SPDX-License-Identifier: MIT
"""Lab 3: flags, scan and scatter; a ballot; offsets over three blocks; a look-back whose tile 2 is late."""

from worked import ITEMS, exclusive, fenced, row, table

LIMIT = 4  # keep: less than it


def flags():
    return [int(item < LIMIT) for item in ITEMS]


def pack():
    kept = flags()
    places, total = exclusive(kept)
    out = [item for item, flag in zip(ITEMS, kept) if flag]

    def line(name, values, says):
        return f"{name:<17}" + "".join(f"{v:<4}" for v in values) + f"    {says}"

    return fenced(
        "\n".join(
            line.rstrip()
            for line in [
                line("items", ITEMS, f"keep: less than {LIMIT}"),
                line("flags", kept, "map: no item waits for another"),
                line("exclusive scan", places, "scan: ⌈log₂ n⌉ steps"),
                line("goes to", [p if f else "" for p, f in zip(places, kept)], "scatter: every kept item to its place"),
                "",
                line("output", out + [""] * (len(ITEMS) - len(out)), f"count: {places[-1]} + {kept[-1]} = {total}"),
            ]
        )
    )


def ballot(lane="5"):
    lane = int(lane)
    word = sum(flag << i for i, flag in enumerate(flags()))
    below = (1 << lane) - 1

    def bits(value):
        return [value >> i & 1 for i in reversed(range(8))]

    return table(
        ["lane", *reversed(range(8)), "`__popc`"],
        [
            ["flag: bit of the ballot", *bits(word), f"{word.bit_count()}: the warp's count"],
            [f"lane {lane}'s `below`: the lanes before it", *bits(below), ""],
            ["and", *bits(word & below), f"{(word & below).bit_count()}: lane {lane}'s place"],
        ],
    )


def blocks():
    threads, n, totals = 256, 600, [131, 120, 47]  # of three blocks, as a run may find them
    sizes = [min(threads, n - first) for first in range(0, n, threads)]
    before, _ = exclusive(totals)

    def line(name, cells, launch=""):
        return (f"{name:<22}" + "".join(f"{c:<14}" for c in cells) + launch).rstrip()

    return fenced(
        "\n".join(
            [
                line(f"n = {n}     flags", [f"| {s}" + " of them" * (i == 0) for i, s in enumerate(sizes)], "k02_scan_blocks<<<3>>>"),
                line("            totals", [f"  {t}" for t in totals], "k02_scan_blocks<<<1>>>"),
                line("            scanned", [f"  {b}" for b in before]),
                line("            positions", [f"| + {b}" for b in before], "k02_add_offsets<<<3>>>"),
            ]
        )
    )


def look_back():
    kept = [5, 3, 6, 2]
    prefix = [sum(kept[: t + 1]) for t in range(4)]
    state = ["–"] * 4
    rows = []

    def begins(tile):
        return prefix[tile] - kept[tile]

    def show(what, *changes):
        for tile, word in changes:
            state[tile] = word
        new = {tile for tile, _ in changes} if rows else set()
        rows.append([what, *(f"**{w}**" if t in new else w for t, w in enumerate(state))])

    total, whole = [f"T {k}" for k in kept], [f"P {p}" for p in prefix]
    show("each publishes its total; tile 0 has nothing before it", (0, whole[0]), (1, total[1]), (3, total[3]))
    show(f"tile 1 looks back: {whole[0]}. It begins at {begins(1)}", (1, whole[1]))
    show("tile 3 looks back: nothing known of tile 2. It looks again")
    show("tile 2 publishes its total", (2, total[2]))
    show(f"tile 3: {total[2]}, {whole[1]}, enough. It begins at {begins(3)}", (3, whole[3]))
    show(f"tile 2: {whole[1]}. It begins at {begins(2)}", (2, whole[2]))
    return f"Tiles 0 to 3 keep {row(kept[:3]).replace(' ', ', ')} and {kept[3]} items.\n\n" + table(["", *(f"tile {t}" for t in range(4))], rows)
