# SPDX-License-Identifier: MIT
"""The text of a CUDA file: how it is encoded, its code."""

import codecs
import re

# Numbers and strings, which stay as they are; blanks and comments. Takes linear time for any text: an unclosed
# string ends with its line.
KEPT_OR_LEFT_OUT = re.compile(
    r"""(\d[\w.']*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|\s+|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)""", re.S
)


def text_of(data: bytes) -> tuple[str, str]:
    """The text, and the encoding if the compilers cannot read it."""
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding.upper()
    even, odd = data[::2].count(0), data[1::2].count(0)
    if max(even, odd) > 0.35 * len(data) and min(even, odd) < 0.05 * len(
        data
    ):  # Latin letters, without a mark
        return data.decode("utf-16-le" if odd > even else "utf-16-be", "replace"), "UTF-16"
    return data.decode("utf-8-sig", "replace"), ""


def code_of(text: str) -> str:
    """Without blanks and comments, which differ between editions of a skeleton and between editors."""
    return KEPT_OR_LEFT_OUT.sub(lambda match: match[1] or "", text)
