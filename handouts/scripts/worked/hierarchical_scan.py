# SPDX-License-Identifier: MIT
"""Lab 7: tiles, totals and carries; levels of a long array; look-backs; how long bytes take."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from worked import ITEMS, exclusive, inclusive, row, table

TILE = 2048


def both() -> str:
    scans = {"inclusive": inclusive(ITEMS), "exclusive": exclusive(ITEMS)[0]}
    return table(
        f"scan | of `{row(ITEMS)}` with +", [[name, f"`{row(made)}`"] for name, made in scans.items()]
    )


def tiles() -> str:
    items = ITEMS + [2, 5]
    parts = [items[first : first + 4] for first in range(0, len(items), 4)]
    local, sums = zip(*map(exclusive, parts))
    carries, _ = exclusive(sums)
    done = [[carry + s for s in scanned] for carry, scanned in zip(carries, local)]
    assert [x for part in done for x in part] == exclusive(items)[0]
    rows = [
        ["items", *map(row, parts)],
        ["scan of each tile on its own", *map(row, local)],
        ["totals", *sums],
        ["exclusive scan of the totals = carries", *carries],
        ["result: the tile's carry added to its scan", *map(row, done)],
    ]
    head = ["", *(f"tile {t}" for t in range(len(parts)))]
    return f"Tiles of 4 items, for `{row(items)}`, exclusive:\n\n{table(head, rows)}"


def levels() -> str:
    rows = []
    for n in (TILE, TILE + 1, TILE**2, TILE**2 + 1):
        counts, n_tiles = [], n
        while not counts or n_tiles > 1:
            n_tiles = -(-n_tiles // TILE)
            counts.append(f"{n_tiles:,}")
        rows.append([f"{n:,}", *(counts + [""] * 3)[:3], len(counts)])
    head = "n | tiles of items | tiles of their totals | tiles of the totals of these totals | levels"
    return table(head, rows, "r")


def look_back() -> str:
    values = [("prefix", 11), ("prefix", 25), ("prefix", 32), ("aggregate", 6), ("aggregate", 9)]
    last = max(i for i, (status, _) in enumerate(values) if status == "prefix")
    sums = [v for status, v in values if status == "aggregate"]
    n_steps = len(values) - last
    rows = [
        ["status", *(f"{status} available" for status, _ in values), "looks back"],
        ["value", *(v for _, v in values), ""],
        ["read in step", *(n_steps - (i - last) if i >= last else "" for i in range(len(values))), ""],
    ]
    carry = values[last][1] + sum(sums)
    return (
        table(["tile", *range(len(values) + 1)], rows)
        + f"\nThe carry of tile {len(values)} is {values[last][1]} ⊕ ({' ⊕ '.join(map(str, sums))}) = {carry}, "
        f"found in {n_steps} steps. The value that is read first is the rightmost operand.\n"
    )


class Event(NamedTuple):
    """What one block did, and what is available afterwards."""

    words: str
    tickets: int
    statuses: list  # of each tile: ("", 0), ("aggregate", total) or ("prefix", total of all up to it)


def scheduled(seed: int, totals: tuple[int, ...] = (5, 3, 6, 2, 4)) -> tuple[list[Event], list[int]]:
    """A single pass with decoupled look-back, in which a scheduler chooses the block that does its next step:
    the events, and for each tile how many statuses its look-back has read. With seed 0, a block runs to its
    end before the next one starts."""
    statuses = [("", 0)] * len(totals)
    events, lengths, n_tickets = [], [0] * len(totals), 0

    def publish(tile: int, kind: str, value: int) -> None:
        statuses[tile] = (kind, value)
        events.append(Event(f"tile {tile}: {kind} {value} available", n_tickets, list(statuses)))

    def block() -> Iterator[None]:
        nonlocal n_tickets
        tile, n_tickets = n_tickets, n_tickets + 1
        events.append(Event(f"a block takes ticket {tile}", n_tickets, list(statuses)))
        yield  # loads and reduces its tile
        if tile > 0:
            publish(tile, "aggregate", totals[tile])
            yield
        carry, before = 0, tile - 1
        while before >= 0:
            kind, value = statuses[before]
            if kind:
                carry, lengths[tile] = carry + value, lengths[tile] + 1
                before = -1 if kind == "prefix" else before - 1
            yield  # reads the next status, or the same one again
        publish(tile, "prefix", carry + totals[tile])

    draw, blocks = random.Random(seed), [block() for _ in totals]
    while blocks:
        chosen = draw.choice(blocks) if seed else blocks[0]
        if next(chosen, blocks) is blocks:
            blocks.remove(chosen)
    return events, lengths
