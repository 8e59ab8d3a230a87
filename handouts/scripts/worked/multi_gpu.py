# SPDX-License-Identifier: MIT
"""Lab 8: collectives, the ring, and the scan, the splitters and the exchange of an array on several ranks."""

import itertools
from collections.abc import Iterator

from worked import ITEMS, exclusive, inclusive, row, table

# What the figures show: buffers of four ranks; shards of a scan, one of them empty; shards of a sort.
BUFFERS = [ITEMS[0:4], ITEMS[4:8], [2, 5, 0, 1], [1, 2, 3, 4]]
SHARDS = [ITEMS[:4], [], ITEMS[4:7], ITEMS[7:] + [2]]
SORT_SHARDS = [[3, 7, 5, 1, 5], [5, 2, 5], [6, 5, 0, 4]]


def collectives(buffers: list[list[int]]) -> Iterator[tuple[str, list[list], str]]:
    """(name, the receive buffers, what each rank sends): None where a rank receives nothing."""
    n = len(buffers)
    sums, columns = [sum(column) for column in zip(*buffers)], [list(column) for column in zip(*buffers)]
    parts = [[sums[r], *[None] * (n - 1)] for r in range(n)]
    yield "ncclAllReduce", [sums] * n, "sum of all buffers, on every rank"
    yield "ncclReduceScatter", parts, "rank r gets the r-th part of the sum"
    yield "ncclAllGather", [columns[0]] * n, "one value of each rank, on every rank"
    yield "ncclAlltoAll", columns, "value q of rank r goes to rank q"


def ring(n: int) -> Iterator[tuple[str, list[list], dict[int, int]]]:
    """The steps of an all-reduce: name, state[rank][chunk] = the ranks whose values it contains, {rank: the
    chunk that it received}."""
    state = [[{r} for _ in range(n)] for r in range(n)]
    yield "start", [list(map(set, rank)) for rank in state], {}
    for step in range(2 * (n - 1)):
        gathering = step >= n - 1
        sent = [(r, (r - step + (1 if gathering else 0) + (n - 1 if gathering else 0)) % n) for r in range(n)]
        received = {}
        before = [list(map(set, rank)) for rank in state]
        for r, chunk in sent:
            to = (r + 1) % n
            state[to][chunk] = before[r][chunk] | (set() if gathering else before[to][chunk])
            received[to] = chunk
        yield f"step {step + 1}", [list(map(set, rank)) for rank in state], received
    assert all(len(chunk) == n for rank in state for chunk in rank)


def scanned(shards: list[list[int]]) -> tuple[list[int], list[int], list[list[int]]]:
    totals = [sum(shard) for shard in shards]
    prefixes, _ = exclusive(totals)
    results = [[prefix + s for s in inclusive(shard)] for prefix, shard in zip(prefixes, shards)]
    assert sum(results, []) == inclusive(sum(shards, []))
    return totals, prefixes, results


def scan() -> str:
    totals, prefixes, results = scanned(SHARDS)
    rows = [
        ["shard", *(row(shard) or "(empty)" for shard in SHARDS)],
        ["total of the shard", *totals],
        ["received by `ncclAllGather`", *[row(totals)] * len(totals)],
        ["prefix: combination of the totals of lower ranks", *prefixes],
        ["result, inclusive", *(row(result) or "(empty)" for result in results)],
    ]
    return table(["", *(f"rank {r}" for r in range(len(SHARDS)))], rows)


def cuts_of(locally: list[list[int]], ends: list[int]) -> list[list[int]]:
    """For each rank, where its sorted keys are cut, so that the parts q of all ranks have ends[q] - ends[q -
    1] keys; equal keys by rank."""
    everything = sorted((key, r, i) for r, keys in enumerate(locally) for i, key in enumerate(keys))
    cuts = [[0] for _ in locally]
    for end in ends:
        lower = everything[:end]
        for r in range(len(locally)):
            cuts[r].append(sum(1 for _, owner, _ in lower if owner == r))
    return cuts


def sorted_by_exchange(shards: list[list[int]]) -> tuple[list, list, list, list]:
    locally = [sorted(shard) for shard in shards]
    ends = inclusive([len(shard) for shard in shards])
    cuts = cuts_of(locally, ends)
    received = [
        [locally[r][cuts[r][q] : cuts[r][q + 1]] for r in range(len(shards))] for q in range(len(shards))
    ]
    results = [sorted(sum(runs, [])) for runs in received]
    assert sum(results, []) == sorted(sum(shards, []))
    return locally, cuts, received, results


def sort() -> str:
    locally, cuts, received, results = sorted_by_exchange(SORT_SHARDS)

    def runs_of(runs: list[list[int]]) -> str:
        return " · ".join(row(run) or "none" for run in runs)

    sent = [[keys[a:b] for a, b in itertools.pairwise(cut)] for keys, cut in zip(locally, cuts)]
    rows = [
        ["shard", *map(row, SORT_SHARDS)],
        ["sorted locally", *map(row, locally)],
        ["cuts", *map(row, cuts)],
        ["keys for rank 0, 1 and 2", *map(runs_of, sent)],
        ["received", *map(runs_of, received)],
        ["merged", *map(row, results)],
    ]
    return table(["", *(f"rank {r}" for r in range(len(SORT_SHARDS)))], rows)
