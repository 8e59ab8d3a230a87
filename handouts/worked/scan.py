# SPDX-License-Identifier: MIT
"""Lab 2: what a scan gives, the two sweeps on other items, and segments."""

from worked import ITEMS, exclusive, inclusive, row, table


def both():
    return table(
        ["scan", "result i", f"example: sums of `{row(ITEMS)}`"],
        [
            ["**inclusive**", "x₀ ⊕ … ⊕ xᵢ", f"`{row(inclusive(ITEMS))}`"],
            ["**exclusive**", "x₀ ⊕ … ⊕ xᵢ₋₁; result 0 is the identity", f"`{row(exclusive(ITEMS)[0])}`"],
        ],
    )


def swept(items):
    """The array after the up-sweep; what stood in each level's nodes on the way up and on the way down; the
    exclusive scan."""
    data, up, down = list(items), {}, {}
    half = 1
    while half < len(data):
        for k in range(2 * half - 1, len(data), 2 * half):
            data[k] += data[k - half]
        half *= 2
        up[half] = data[half - 1 :: half]
    after = list(data)
    data[-1] = 0
    down[half] = [0]
    while half > 1:
        half //= 2
        for k in range(2 * half - 1, len(data), 2 * half):
            data[k - half], data[k] = data[k], data[k] + data[k - half]
        down[half] = data[half - 1 :: half]
    return after, up, down, data


def sweeps():
    items = list(range(8))
    after, up, down, result = swept(items)
    return table(
        ["", f"items `{row(items)}`"],
        [
            ["array after the up-sweep", f"`{row(after)}`"],
            ["sums of the two nodes with four leaves, in the up-sweep", f"[{', '.join(map(str, up[4]))}]"],
            ["prefixes of the same two nodes, in the down-sweep", f"**[{', '.join(map(str, down[4]))}]**"],
            ["exclusive scan", f"`{row(result)}`"],
        ],
    )


def segments():
    parts = [ITEMS[:3], ITEMS[3:6], ITEMS[6:]]
    return table(
        ["items", "inclusive", "exclusive"],
        [
            [
                f"`{' | '.join(map(row, parts))}`".replace("|", "\\|"),
                f"`{row(v for p in parts for v in inclusive(p))}`",
                f"`{row(v for p in parts for v in exclusive(p)[0])}`",
            ]
        ],
    )
