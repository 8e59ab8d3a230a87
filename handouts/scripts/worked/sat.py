# SPDX-License-Identifier: MIT
"""Lab 6: tables from both corners, pass by pass; four look-ups; the scan of a warp; what floats lose."""

import array
import itertools
import math
import operator
import random

from worked import ITEMS, fenced, inclusive, row, table

SQUARE = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
NEAR = 64  # rows and columns at the far corner, where entries are largest
WIDE = [[2, 1, 0, 0], [0, 1, 2, 0], [1, 2, 1, 0], [1, 1, 0, 2]]


def turned(rows: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows)]


def by_rows(rows: list[list[int]]) -> list[list[int]]:
    return [inclusive(r) for r in rows]


def by_columns(rows: list[list[int]]) -> list[list[int]]:
    return turned(by_rows(turned(rows)))


def upwards(rows: list[list[int]]) -> list[list[int]]:
    return by_columns(rows[::-1])[::-1]


def side_by_side(heads: list[str], pictures: list[list[list[int]]]) -> str:
    return table(heads, [[row(picture[r]) for picture in pictures] for r in range(len(pictures[0]))])


def corners() -> str:
    left, right = by_columns(by_rows(SQUARE)), upwards(by_rows(WIDE))

    def cells(values: list[int], width: int) -> str:
        return "".join(f"{v:>{width}}" for v in values)

    lines = [f" {'image':<13}{'top left':<18}{'image':<16}lower left"]
    for r, wide in enumerate(WIDE):
        square = cells(SQUARE[r], 2) + "      " + cells(left[r], 4) if r < len(SQUARE) else ""
        lines.append(f"{square:<31}{cells(wide, 2)}       {cells(right[r], 3)}")
    return fenced("\n".join(lines))


def passes() -> str:
    rows = by_rows(SQUARE)
    return side_by_side(["image", "rows scanned", "columns scanned"], [SQUARE, rows, by_columns(rows)])


def transposes() -> str:
    rows = by_rows(SQUARE)
    pictures = [rows, turned(rows), by_rows(turned(rows)), by_columns(rows)]
    return side_by_side(["rows scanned", "transposed", "rows scanned", "transposed"], pictures)


def lower_left() -> str:
    rows = by_rows(WIDE)
    heads = ["image", "rows scanned", "columns scanned, starting at the last row"]
    return side_by_side(heads, [WIDE, rows, upwards(rows)])


def look_ups(at_row: str = "1", at_column: str = "2", radius: str = "1") -> str:
    r, c, k = int(at_row), int(at_column), int(radius)
    t = upwards(by_rows(WIDE))
    top, bottom, left, right = r - k, r + k, c - k, c + k
    ur, ul, lr, ll = t[top][right], t[top][left - 1], t[bottom + 1][right], t[bottom + 1][left - 1]
    total, items = ur - ul - lr + ll, (2 * k + 1) ** 2
    return (
        f"*Four look-ups.* In that image, the box of radius {k} around row {r}, column {c} covers rows {top} … {bottom} and columns {left} … {right}. Its sum is\n"
        f"ur − ul − lr + ll = {ur} − {ul} − {lr} + {ll} = {total}, computed from table({top}, {right}), table({top}, {left - 1}), table({bottom + 1}, {right}) and table({bottom + 1}, {left - 1}). "
        f"Its mean is {total}/{items}. Check the sum by adding the nine items.\n"
    )


def warp_scan() -> str:
    lines, values, d = [(list(ITEMS), f"the values of {len(ITEMS)} lanes")], list(ITEMS), 1
    while d < len(values):
        values = [v + (values[i - d] if i >= d else 0) for i, v in enumerate(values)]
        lines.append((values, f"d = {d}"))
        d *= 2
    return fenced("\n".join("".join(f"{v:>2}  " for v in values) + f"   {says}" for values, says in lines))


def float_sums(image: list[array.array], take_off: float) -> list[array.array]:
    """The last rows of the table of a square image, in float, rows summed first.

    A double that holds the sum of two floats and is then rounded to float is their sum in float, so arrays of
    floats do the rounding. The items of an array are a column of the image first, then a row: each addition
    waits for one of the array before.
    """
    side = len(image)
    flat = array.array("f", itertools.chain.from_iterable(image))
    columns, sums = array.array("f"), array.array("f", bytes(4 * side))
    for c in range(side):
        column = flat[c::side]
        if take_off:
            column = array.array("f", (x - take_off for x in column))
        sums = array.array("f", map(operator.add, sums, column))
        columns.extend(sums)
    last, sums = [], array.array("f", bytes(4 * side))
    for r in range(side):
        sums = array.array("f", map(operator.add, sums, columns[r::side]))
        last = (last + [sums])[-NEAR - 3 :]
    return last


def worst_of_means(image: list[array.array], take_off: float) -> tuple[float, float]:
    """The last entry, and the worst error of a 3 x 3 mean among the last rows and columns."""
    side, last = len(image), float_sums(image, take_off)
    as_float = lambda x: array.array("f", [x])[0]  # noqa: E731
    worst, first = 0.0, side - len(last)
    for r in range(3, len(last)):
        for c in range(side - NEAR, side):
            near, far = last[r - 3], last[r]
            total = as_float(as_float(as_float(far[c] - near[c]) - far[c - 3]) + near[c - 3])
            exact = math.fsum(x for y in range(r - 2, r + 1) for x in image[first + y][c - 2 : c + 1])
            worst = max(worst, abs(as_float(total / 9) + take_off - exact / 9))
    return last[-1][-1], worst


def floats() -> str:
    rows = []
    for side in (256, 1024, 4096):
        generator = random.Random(1)
        image = [array.array("f", (generator.random() for _ in range(side))) for _ in range(side)]
        corner, plain = worst_of_means(image, 0.0)
        _, centred = worst_of_means(image, 0.5)
        rows.append([f"{side}²", f"{corner:,.0f}", one_digit(plain), one_digit(centred)])
    head = f"image | last entry, at the far corner | worst error of a 3 × 3 mean in the last {NEAR} rows and columns"
    return table(f"{head} | the same error if 0.5 is subtracted from every item first", rows, "lr")


def one_digit(x: float) -> str:
    return f"{x:.{max(0, -math.floor(math.log10(x)))}f}"
