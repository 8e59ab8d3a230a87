# SPDX-License-Identifier: MIT
"""Lab 2: what a scan gives, the two sweeps on other items, and segments."""

from collections.abc import Callable, Iterator

from worked import ITEMS, exclusive, inclusive, row, table


def both() -> str:
    rows = [
        f"**inclusive** | x₀ ⊕ … ⊕ xᵢ | `{row(inclusive(ITEMS))}`",
        f"**exclusive** | x₀ ⊕ … ⊕ xᵢ₋₁; result 0 is the identity | `{row(exclusive(ITEMS)[0])}`",
    ]
    return table(f"scan | result i | example: sums of `{row(ITEMS)}`", rows)


def swept(items: list[int]) -> tuple[list[int], dict[int, list[int]], dict[int, list[int]], list[int]]:
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


def sweeps() -> str:
    items = list(range(8))
    after, up, down, result = swept(items)
    rows = [
        f"array after the up-sweep | `{row(after)}`",
        f"sums of the two nodes with four leaves, in the up-sweep | {up[4]}",
        f"prefixes of the same two nodes, in the down-sweep | **{down[4]}**",
        f"exclusive scan | `{row(result)}`",
    ]
    return table(f" | items `{row(items)}`", rows)


def segments() -> str:
    parts = [ITEMS[:3], ITEMS[3:6], ITEMS[6:]]
    items = f"`{' | '.join(map(row, parts))}`".replace("|", "\\|")
    scans = (row(v for p in parts for v in scan(p)) for scan in (inclusive, lambda p: exclusive(p)[0]))
    return table("items | inclusive | exclusive", [[items, *(f"`{one}`" for one in scans)]])


# --- Networks: the operations of an inclusive scan of n items, each as (left, right): position `right` gets
# left ⊕ right. n is a power of two; `at` are the positions that a network works on.


def kogge_stone(at: list[int]) -> Iterator[list[tuple]]:
    """Every position, in every round; the operations of a round read what was there before it."""
    offset = 1
    while offset < len(at):
        yield [(at[i - offset], at[i]) for i in range(offset, len(at))]
        offset *= 2


def sklansky(at: list[int]) -> Iterator[list[tuple]]:
    """Both halves at the same time; then the last result of the left half is added to all of the right
    one."""
    half = len(at) // 2
    if half == 0:
        return
    for left, right in zip(sklansky(at[:half]), sklansky(at[half:])):
        yield left + right
    yield [(at[half - 1], right) for right in at[half:]]


def brent_kung(at: list[int]) -> Iterator[list[tuple]]:
    return pairs_first(at, brent_kung)


def ladner_fischer(at: list[int]) -> Iterator[list[tuple]]:
    """The left half as in Brent and Kung's first step, the right half again like this, at the same time."""
    half = len(at) // 2
    if half == 0:
        return
    yield from together(pairs_first(at[:half]), ladner_fischer(at[half:]))
    yield [(at[half - 1], right) for right in at[half:]]


def pairs_first(at: list[int], inner: Callable | None = None) -> Iterator[list[tuple]]:
    """Pairs, the network `inner` for their results, and the positions in between."""
    if len(at) < 2:
        return
    yield list(zip(at[::2], at[1::2]))
    yield from (inner or ladner_fischer)(at[1::2])
    if len(at) > 2:
        yield list(zip(at[1:-1:2], at[2::2]))


def together(*networks: Iterator[list[tuple]]) -> Iterator[list[tuple]]:
    yield [one for network in networks for level in network for one in level]


NETWORKS = {
    "Kogge–Stone (rungs 2, 3 and 7)": kogge_stone,
    "Sklansky": sklansky,
    "Ladner–Fischer": ladner_fischer,
    "Brent–Kung (the idea of Blelloch's sweeps)": brent_kung,
}


def executed(network: Callable, n: int) -> tuple[list[tuple], int, int, int]:
    """What each position holds in the end, as a range of items; operations, depth, and the largest number of
    operations that read the same value."""
    held, depth = [(i, i) for i in range(n)], [0] * n
    operations, readers = 0, {}
    for level in network(list(range(n))):
        # The operations of a level of Kogge–Stone read old values; in the others no result is read in its
        # level, except where levels of different parts are joined, in their order.
        old = (list(held), list(depth)) if network is kogge_stone else (held, depth)
        for left, right in level:
            low, high = old[0][left], old[0][right]
            assert low[1] + 1 == high[0], "only neighbouring ranges may be combined"
            readers[left, old[1][left]] = readers.get((left, old[1][left]), 0) + 1
            new = (low[0], high[1]), max(old[1][left], old[1][right]) + 1
            held[right], depth[right] = new
            operations += 1
    return held, operations, max(depth), max(readers.values())


def networks(n: str | int) -> str:
    n = int(n)
    rows = []
    for name, network in NETWORKS.items():
        held, operations, depth, readers = executed(network, n)
        assert held == [(0, i) for i in range(n)], name
        rows.append([name, operations, depth, readers])
    head = [f"network, {n} items", "operations", "steps", "operations that read one value, at most"]
    return table(head, rows, "lr")
