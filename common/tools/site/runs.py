# SPDX-License-Identifier: MIT
"""Links from the pages of the site to the page in which kernels run (grader/play): below each worked trace and
each kernel of the errata, to the state that shows it."""

import re
import urllib.parse

# Where a worked example (handouts/scripts/worked) stands: the kernel that does the same. Most have the
# items 3 1 7 0 4 1 6 3; several tiles need more.
WORKED: dict[str, dict] = {
    "scan both": {"task": "hillis_steele", "variant": "inclusive_sum_i32"},
    "scan sweeps": {"task": "blelloch", "items": "typed", "typed": "0 1 2 3 4 5 6 7"},
    "scan segments": {"task": "segmented"},
    "compaction pack": {"task": "three_kernels", "variant": "is_even_i32"},
    "compaction look_back": {"task": "single_pass", "n": 64, "schedule": 3},
    "compaction blocks": {"task": "three_kernels", "items": "random", "n": 20},
    "radix_sort split": {"task": "split"},
    "radix_sort merge": {"task": "tiles_and_merge", "items": "random", "n": 32},
    "radix_sort by_digits": {"task": "digits", "items": "random", "n": 32},
    "radix_sort flips": {"task": "any_key", "variant": "keys_i32", "items": "extremes"},
    "radix_sort look_back": {"task": "onesweep", "items": "random", "n": 64, "schedule": 3},
    "histogram edges": {"task": "global_atomics"},
    "histogram racy": {"task": "global_atomics", "version": "racy"},
    "histogram private": {"task": "private_counts"},
    "histogram sorted_tile": {"task": "sort_reduce"},
    "sat corners": {"task": "serial", "variant": "top_left_i32", "n": 9},
    "sat warp_scan": {"task": "rows_columns", "variant": "top_left_i32", "n": 8},
    "sat passes": {"task": "serial", "variant": "top_left_i32", "n": 9},
    "sat transposes": {"task": "transpose", "variant": "top_left_i32", "n": 9},
    "sat lower_left": {"task": "serial", "variant": "lower_left_i32", "n": 16},
    "sat look_ups": {"task": "box", "n": 16},
    "hierarchical_scan both": {"task": "two_levels", "variant": "inclusive_sum_i32"},
    "hierarchical_scan tiles": {"task": "two_levels", "variant": "exclusive_sum_i32", "n": 40},
    "hierarchical_scan levels": {
        "task": "recursive",
        "variant": "exclusive_sum_i32",
        "items": "random",
        "n": 64,
    },
    "hierarchical_scan look_back": {"task": "look_back", "n": 64, "schedule": 3},
}
QUOTE = re.compile(
    r"^<!-- quote: (?:(?P<kind>table trace|output trace|worked) (?P<lab>\w+) (?P<what>\w+)"
    r"|kernel erratum_(?P<erratum>\d+)_\w+).*?<!-- end quote -->\n",
    re.M | re.S,
)
# In the order of the page's own choices: what is left out is its first choice.
USUAL = {"version": "solution", "items": "example", "n": 8, "step": 1}


def state_of(quote: re.Match, labs: dict) -> tuple[str, dict] | None:
    """The words of the link and the page's state for a quotation; None if the page does not offer it."""
    if number := quote["erratum"]:
        return "Run this kernel", {"lab": "errata", "task": number}
    lab, what = quote["lab"], quote["what"]
    chosen = WORKED.get(f"{lab} {what}") if quote["kind"] == "worked" else {"task": what}
    if chosen is None or lab not in labs:
        return None
    return "Run this kernel", {"lab": lab} | USUAL | chosen


def offers(labs: dict, state: dict) -> bool:
    """Whether the page can run what the fields of its form (`state`) say."""
    packed = labs[state["lab"]]["packed"] if state["lab"] in labs else {"sizes": {}}
    for size in packed["sizes"].values():
        variants = size.get(state.get("version", "faulty"), {"tasks": {}})["tasks"].get(state["task"], {})
        ranges = [variants.get(state["variant"])] if "variant" in state else variants.values()
        for lengths in (packed["ranges"][number] for number in ranges if number is not None):
            if "n" not in state or any(first <= state["n"] <= last for first, last, *_ in lengths):
                return True
    return False


def with_links(text: str, labs: dict) -> str:
    """A page with its links."""

    def link(match: re.Match) -> str:
        found = state_of(match, labs)
        if found is None or not offers(labs, found[1]):
            return match[0]
        words, state = found
        return (
            f"{match[0]}\n[{words} and step through it](../play/page.html#{urllib.parse.urlencode(state)})\n"
        )

    return QUOTE.sub(link, text)
