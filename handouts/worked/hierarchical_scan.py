# SPDX-License-Identifier: MIT
"""Lab 7: tiles, sums and carries; levels of a long array; a look-back; how long bytes take."""

from worked import ITEMS, exclusive, fenced, inclusive, row, table

TILE = 2048


def both():
    return table(["scan", f"of `{row(ITEMS)}` with +"], [["inclusive", f"`{row(inclusive(ITEMS))}`"], ["exclusive", f"`{row(exclusive(ITEMS)[0])}`"]])


def tiles():
    items = ITEMS + [2, 5]
    parts = [items[first : first + 4] for first in range(0, len(items), 4)]
    local = [exclusive(p) for p in parts]
    sums = [total for _, total in local]
    carries, _ = exclusive(sums)
    done = [[carry + s for s in scanned] for carry, (scanned, _) in zip(carries, local)]
    assert [x for part in done for x in part] == exclusive(items)[0]
    return f"Tiles of 4 items, for `{row(items)}`, exclusive:\n\n" + table(
        ["", *(f"tile {t}" for t in range(len(parts)))],
        [
            ["items", *map(row, parts)],
            ["scan of each tile, alone", *(row(scanned) for scanned, _ in local)],
            ["sums", *sums],
            ["exclusive scan of the sums: carries", *carries],
            ["carry in front of every item", *map(row, done)],
        ],
    )


def levels():
    rows = []
    for n in (TILE, TILE + 1, TILE**2, TILE**2 + 1):
        counts, n_tiles = [], n
        while not counts or n_tiles > 1:
            n_tiles = -(-n_tiles // TILE)
            counts.append(f"{n_tiles:,}")
        rows.append([f"{n:,}", *(counts + [""] * 3)[:3], len(counts)])
    return table(["n", "tiles of items", "tiles of their sums", "of those sums' sums", "levels"], rows, "r")


def look_back():
    values = [("P", 11), ("P", 25), ("P", 32), ("S", 6), ("S", 9)]
    cells = lambda name, row_: f" {name:<7}" + "".join(f"{c:>6}" for c in row_)  # noqa: E731
    whole = max(i for i, (state, _) in enumerate(values) if state == "P")
    sums = [v for state, v in values if state == "S"]
    carry = values[whole][1] + sum(sums)
    steps = len(values) - whole
    return fenced(
        "\n".join(
            [
                cells("tile", range(6)),
                cells("state", [s for s, _ in values] + ["here"]),
                cells("value", [v for _, v in values]),
                " " * (8 + 6 * whole + 5) + "<" + "-----<" * (steps - 1),
                f" carry                 {values[whole][1]} ⊕ ({' ⊕ '.join(map(str, sums))}) = {carry}         {steps} steps to the left; the first value found stands furthest right",
            ]
        )
    )
