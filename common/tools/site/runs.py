# SPDX-License-Identifier: MIT
"""Links from the pages of the site to the page in which kernels run (grader/play): below each worked trace and
each kernel of the errata, to the state that shows it."""

import re
import urllib.parse

# `<!-- run: lab=scan&task=segmented -->` below a worked example: the kernel that does the same, with the fields of the
# page's form. A quoted trace says itself what it shows.
RUN = re.compile(
    r"^<!-- run: (?P<state>\S+) -->\n"
    r"|^<!-- quote: output trace (?P<lab>\w+) (?P<task>\w+).*?<!-- end quote -->\n",
    re.M | re.S,
)
# In the order of the page's own choices: what is left out is its first choice.
USUAL = {"version": "solution", "items": "example", "n": 8, "step": 1}


def state_of(found: re.Match) -> dict:
    """The state of the page in which the kernel runs."""
    if found["state"] is None:
        return {"lab": found["lab"]} | USUAL | {"task": found["task"]}
    state = dict(urllib.parse.parse_qsl(found["state"]))
    if state["lab"] == "errata":
        return state
    return USUAL | state | ({"n": int(state["n"])} if "n" in state else {})


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
        state = state_of(match)
        if not offers(labs, state):
            return match[0]
        where = f"../play/page.html#{urllib.parse.urlencode(state)}"
        return f"{match[0]}\n[Run this kernel and step through it]({where})\n"

    return RUN.sub(link, text)
