# SPDX-License-Identifier: MIT
"""Exam questions whose numbers can be drawn anew, with the key to them.

VARIANTS[page, number] has the original's values, how to draw others, and the texts of question and answer for
given values.
"""

from collections.abc import Callable, Iterator
from itertools import accumulate
from random import Random
from typing import NamedTuple


class Variant(NamedTuple):
    original: tuple
    draw: Callable  # of a random.Random: other values
    text: Callable  # of values: question and answer


def code(values: list[int]) -> str:
    return f"`{' '.join(map(str, values))}`"


def items(most: int) -> Callable:
    return lambda random: ([random.randint(0, most) for _ in range(8)],)


def launches(n: int, block: int) -> list[int]:
    counts = [n]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // block))
    return counts[1:]


def reduction_1(n: int, block: int) -> tuple[str, str]:
    return (
        f"`by_levels` reduces {n:,} items with one item per thread and {block} threads per block. How many launches "
        f"does it need, and how many blocks has each of them? Where does each launch write?",
        "It needs three launches, with {:,}, {} and {} blocks. The first writes {:,} partial results to one scratch array, the "
        "second writes {} to the other scratch array, and the third writes the result to `d_out`. No launch writes "
        "the array that it reads.".format(*launches(n, block), *launches(n, block)[:2]),
    )


def reduction_3(values: list[int]) -> tuple[str, str]:
    rounds, after = list(values), []
    while len(rounds) > 1:
        half = len(rounds) // 2
        rounds = [a + b for a, b in zip(rounds, rounds[half:])]
        after.append(rounds)
    four, two, one = after
    return (
        f"One block of 8 threads reduces {code(values)} with sequential addressing and +. Write down the lower half "
        f"of the array that is still in use after each round. Which threads work in each round?",
        f"It is {code(four)} after stride 4 (threads 0 to 3), {code(two)} after stride 2 (threads 0 and 1), and "
        f"{code(one)} after stride 1 (thread 0).",
    )


def scan_1(values: list[int]) -> tuple[str, str]:
    data, n = list(values), len(values)

    def up_sweep() -> Iterator[list[int]]:
        for half in (2**k for k in range(n.bit_length() - 1)):
            for k in range(2 * half - 1, n, 2 * half):
                data[k] += data[k - half]
            yield list(data)

    def down_sweep() -> Iterator[list[int]]:
        for half in (2**k for k in reversed(range(n.bit_length() - 1))):
            for k in range(2 * half - 1, n, 2 * half):
                data[k - half], data[k] = data[k], data[k] + data[k - half]
            yield list(data)

    ups = list(up_sweep())
    data[-1] = 0
    root, downs = list(data), list(down_sweep())
    return (
        f"Write down the array after each level of the up-sweep and of the down-sweep for {code(values)} and +.",
        f"The up-sweep gives {', '.join(map(code, ups))}. The root becomes 0: {code(root)}. The down-sweep gives "
        f"{', '.join(map(code, downs))}.",
    )


def scan_3(n: int, levels: int) -> tuple[str, str]:
    return (
        f"A row has {n} items. Give the operations and steps of Hillis–Steele and of the two sweeps. Which of them is "
        f"preferable in a warp, and which if there are far more items than processors?",
        f"Hillis–Steele takes {n} · {levels} − {n - 1} = {n * levels - n + 1:,} operations in {levels} steps. The sweeps "
        f"take 2 · {n - 1} = {2 * (n - 1):,} operations in {2 * levels} steps. In a warp, all lanes work at the same time, so "
        f"the number of steps decides, and Hillis–Steele is preferable. With far more items than processors, "
        f"operations wait for processors, so the work decides, and the sweeps (or better, a serial chunk per thread) "
        f"are preferable.",
    )


def compaction_1(values: list[int], limit: int) -> tuple[str, str]:
    flags = [int(value < limit) for value in values]
    *sums, count = accumulate(flags, initial=0)
    return (
        f"The items are {code(values)}, and the predicate keeps items less than {limit}. Write down flags, exclusive "
        f"scan and output, and compute the count from the last elements.",
        f"Flags {code(flags)}, exclusive scan {code(sums)}, output {code([v for v in values if v < limit])}. The count "
        f"is scan[7] + flag[7] = {sums[-1]} + {flags[-1]} = {count}.",
    )


def compaction_4(n: int, tile: int) -> tuple[str, str]:
    tiles = -(-n // tile)
    before = (tiles - 1) * tile
    return (
        f"`warp_aggregated` compacts {n:,} items in tiles of {tile:,}. How many tiles are there, and how many items "
        f"has the last one? What goes wrong if lanes past the end skip the ballot?",
        f"{tiles} tiles; the last one has {n:,} − {before:,} = {n - before:,} items. The mask of the ballot names all "
        f"32 lanes. If some of them never reach it, the others wait forever, or the result is undefined. Such a lane "
        f"must call the ballot with a false condition.",
    )


def radix_sort_1(keys: list[int]) -> tuple[str, str]:
    e = [1 - key % 2 for key in keys]
    *f, zeros = accumulate(e, initial=0)
    t = [i - f[i] + zeros for i in range(len(keys))]
    d = [f[i] if e[i] else t[i] for i in range(len(keys))]
    out = [key for _, key in sorted(zip(d, keys))]
    return (
        f"Split {code(keys)} by bit 0. Write down e, f, totalFalses, t, d and the output.",
        f"e {code(e)}, f {code(f)}, totalFalses = {e[-1]} + {f[-1]} = {zeros}, t {code(t)}, d {code(d)}, output "
        f"{code(out)}.",
    )


def sat_1(*rows: list[int]) -> tuple[str, str]:
    across = [list(accumulate(row)) for row in rows]
    down = [list(row) for row in zip(*(accumulate(column) for column in zip(*across)))]
    one, two, three = map(code, rows)
    return (
        f"Compute the summed area table, from the top left corner, of the rows {one}, {two} and {three}. Also write "
        f"down the table after the first pass.",
        f"After the scan of the rows it is {', '.join(map(code, across))}. After the scan of the columns it is {', '.join(map(code, down))}.",
    )


def levels_of(random: Random) -> tuple[int, int]:
    levels = random.randint(6, 11)
    return 2**levels, levels


VARIANTS = {
    ("01-reduction", 1): Variant(
        (10**6, 512), lambda random: (random.randint(6, 40) * 50_000, random.choice([256, 512])), reduction_1
    ),
    ("01-reduction", 3): Variant(([2, 7, 1, 8, 2, 8, 1, 8],), items(9), reduction_3),
    ("02-scan", 1): Variant(([5, 2, 0, 3, 1, 4, 2, 6],), items(6), scan_1),
    ("02-scan", 3): Variant((512, 9), levels_of, scan_3),
    ("03-compaction", 1): Variant(
        ([6, 1, 9, 2, 2, 7, 3, 8], 5), lambda random: (*items(9)(random), random.randint(3, 6)), compaction_1
    ),
    ("03-compaction", 4): Variant(
        (10_000, 2048),
        lambda random: (random.randint(81, 180) * 100, random.choice([1024, 2048])),
        compaction_4,
    ),
    ("04-radix-sort", 1): Variant(
        ([6, 3, 5, 0, 2, 7, 1, 4],), lambda random: (random.sample(range(8), 8),), radix_sort_1
    ),
    ("06-sat", 1): Variant(
        ([1, 0, 2], [3, 1, 0], [0, 2, 4]),
        lambda random: tuple([random.randint(0, 4) for _ in range(3)] for _ in range(3)),
        sat_1,
    ),
}
