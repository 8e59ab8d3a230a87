# SPDX-License-Identifier: MIT
"""The handouts' Markdown as Typst, for slides."""

import html
import json
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
INLINE = re.compile(
    r"`([^`]+)`|\*\*(.+?)\*\*|(?<![\w*])\*(?!\s)([^*]+?)\*(?![\w*])|!?\[([^\]]*)\]\([^)]*\)|<br>"
    r"|<(?:sup|/sup|a|/a|code|/code)\b[^>]*>",
    re.S,
)


def write(path: pathlib.Path, source: str, as_source: bool) -> None:
    """Typst as PDF, or `as_source`; `path` has no suffix."""
    if as_source:
        path.with_suffix(".typ").write_text(source, encoding="utf-8")
        return
    try:
        import typst
    except ImportError:
        needed = "pip install -r handouts/instructor/requirements.txt (or take --typst)"
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: the package typst is missing: {needed}")
    typst.compile(source.encode(), output=path.with_suffix(".pdf"), root=ROOT)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def inline(text: str) -> str:
    """Markdown inside of a paragraph, as Typst content in brackets."""
    out, at = "", 0
    for found in INLINE.finditer(text):
        out += f"#text({quoted(html.unescape(text[at : found.start()]))})" if found.start() > at else ""
        code, strong, emphasis, link = found.groups()
        if code is not None:
            code = html.unescape(code)
            if len(code) > 24:
                code = code.replace("_", "_\u200b")  # may break there
            out += f"#raw({quoted(code)})"
        elif strong is not None:
            out += f"#strong[{inline(strong)}]"
        elif emphasis is not None:
            out += f"#emph[{inline(emphasis)}]"
        elif link is not None:
            out += inline(link)
        elif found[0] == "<br>":
            out += "#linebreak()"
        at = found.end()
    return out + (f"#text({quoted(html.unescape(text[at:]))})" if at < len(text) else "")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines: list[str]) -> str:
    """A Markdown table. Columns of long cells share the width, and the others are as wide as they must be."""
    head, sides, *rows = map(cells, lines)
    width = max(map(len, [head, *rows]))
    columns = [[re.sub(r"[`*]", "", row[k]) for row in [head, *rows] if k < len(row)] for k in range(width)]
    longest = [max((len(cell) for cell in column if " " in cell), default=0) for column in columns]
    wraps = any(size > 34 for size in longest)
    columns = "".join(f"{min(size, 100)}fr, " if wraps and size > 14 else "auto, " for size in longest)  # type: ignore[assignment]
    align = "".join("right, " if side.endswith(":") else "left, " for side in sides)

    def row_of(row: list[str], around: str) -> str:
        row = row + [""] * (width - len(row))
        return "".join(around % inline(cell.replace(r"\|", "|")) for cell in row)

    heading = f"table.header({row_of(head, '[#strong[%s]], ')})," if any(head) else ""
    body = "\n".join("  " + row_of(row, "[%s], ") for row in rows)
    return f"#table(columns: ({columns}), align: ({align}),\n{heading}\n{body}\n)"


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Kind and lines of each block of a section: code, table, list, text."""
    text = re.sub(r"^<!-- .*? -->\n|^<a id=.*\n|^</?details>\n?|^<details>", "", text, flags=re.M)
    text = re.sub(r"<summary>(.*?)</summary>", r"\n\1\n", text)
    for part in re.split(r"(^```.*?^```$)", text, flags=re.S | re.M):
        if part.startswith("```"):
            yield "code", part.splitlines()[1:-1]
            continue
        for block in re.split(r"\n\s*\n|\n(?=\|)(?<!\|\n)", part):
            lines = [line for line in block.splitlines() if line.strip()]
            if lines and lines[0].startswith("|"):
                rows = [line for line in lines if line.startswith("|")]
                yield "table", rows
                lines = lines[len(rows) :]
            if lines and re.match(r"([-*]|\d+\.) ", lines[0]):
                yield "list", re.split(r"\n(?=[-*] |\d+\. )", "\n".join(lines))
            elif lines:
                yield "text", [" ".join(lines)]
