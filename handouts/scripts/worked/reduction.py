# SPDX-License-Identifier: MIT
"""Lab 1: the recursive reduction on the CPU, which halves the array."""

from worked import ITEMS, row, table


def halving() -> str:
    """As fold_by_halving in labs/reduction/baseline.hpp does it."""
    values, rows = [*ITEMS, 5, 2, 4], []
    while len(values) > 1:
        half, before = len(values) // 2, list(values)
        odd = f"{values[0]} + {values[-1]} = {values[0] + values[-1]}" if len(values) % 2 else "none"
        if len(values) % 2:
            values[0] += values[-1]
        values = [values[i] + values[i + half] for i in range(half)]
        rows.append([f"`{row(before)}`", len(before), odd, half, f"`{row(values)}`"])
    assert values == [sum([*ITEMS, 5, 2, 4])]
    return table(["values", "how many", "first: odd value", "then: pairs half an array apart", "left"], rows)
