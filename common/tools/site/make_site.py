#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the course site: handouts and commands; with search, to be read without a network.

    ./lab site                      # build/site/index.html: what students may see, to be published as it is
    ./lab site --instructor         # build/site-instructor/index.html: all texts, and kernels that run in a page
    make_site.py LABCLI FOLDER [--instructor]      # the same, into this folder

The students' site contains no file that the students' edition lacks (grader/release/edition.py): a link to
one becomes plain words, and players show no source lines. Pages are gathered in FOLDER/site-pages: the texts
as they are, and a page for each other file of the repository to which they link. MkDocs with the Material
theme (requirements.txt) turns them into HTML; a link that leads nowhere is an error. Figures with steps then
get a player (players.py). The first page begins with handouts/site_front.md.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent), str(ROOT / "grader/play"), str(ROOT / "grader/release")]
import edition
import make_play
import packages
import pages
import players
from waiting import Waiting

# What stands in the menu, in this order. A page's title is its first heading.
MENU = {
    "Course": ["handouts/README.md", "play/index.md", "handouts/00-ideas.md", "handouts/memory-model.md"],
    "Labs": ["handouts/00-first-steps.md", "handouts/0[1-9]-*.md", "handouts/scaling.md"],
    "For all labs": [
        f"handouts/{p}.md" for p in "debugging errata glossary library model rules uninstall".split()
    ],
    "Reference": ["reference/commands.md"],
    "Instructors": [f"handouts/instructor/{page}.md" for page in ("checklist", "guide", "README", "*")]
    + ["CONTRIBUTING.md"],
}
NOT_LISTED = re.compile(r"-deeper\.md$|instructor/\d")  # a page of the menu leads to them
LINK = re.compile(r"(!?\[[^\]]*\]\()([^()\s#]+)((?:#[^()\s]*)?\))")
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".hpp": "cpp", ".cpp": "cpp", ".h": "c"}
LANGUAGES |= {".py": "python", ".sh": "bash", ".json": "json"}
SHIM = "https://unpkg.com/iframe-worker/shim"  # what the theme would load: ours stands in
NOT_FOUND = "<h1>404 - Not found</h1>", "<h1>Page not found</h1><p>The menu leads to all pages.</p>"
PICTURES = {".svg", ".png", ".jpg", ".gif"}
AS_THEY_ARE = PICTURES | {".json"}  # copied, also measured results


def adapted(text: str) -> str:
    """What a code host shows by itself: a list right after a paragraph, which here needs an empty line; what
    is folded, which has to be called Markdown, links of plain HTML to pages, and bars in the code of a table."""
    out, fence = [], False
    for line in text.splitlines():
        fence ^= line.lstrip().startswith("```")
        if not fence:
            line = re.sub(r"^(\s*)<details\b", r'\1<details markdown="1"', line)
            line = line.replace("<summary>", '<summary markdown="span">')
            line = re.sub(r'(<a href="[^":]*)\.md(["#])', r"\1.html\2", line)
            if line.startswith("|"):  # in code, where the generator takes a bar as it is
                line = re.sub(r"`[^`]*`", lambda code: code[0].replace(r"\|", "|"), line)
        item = re.match(r" {0,3}([-*]|\d+\.) ", line)
        before = out[-1] if out else ""
        if item and not fence and before.strip() and not re.match(r"\s*([-*]|\d+\.) |\s{2,}\S", before):
            out.append("")
        out.append(line)
    return "\n".join(out) + "\n"


def without_marks(text: str) -> str:
    """A text without the marks of quotations: a comment ends the block of HTML that it stands in."""
    return re.sub(r"^<!-- (quote: .*|end quote) -->\n", "", text, flags=re.M)


def front(gatherer: "Gatherer", readme: pathlib.Path) -> str:
    """The first page of all: handouts/site_front.md, with the README's commands and what follows there."""
    text = without_marks(adapted(gatherer.linked(ROOT / "handouts/site_front.md", ROOT)))
    start = adapted(gatherer.linked(readme, ROOT))
    commands = re.search(r"^On a Debian.*?^```console\n.*?^```\n", start, re.M | re.S)[0]
    more = start[start.index("You do not have to install") :]
    return text.replace("<!-- commands -->\n", commands) + "\n## How to start\n\n" + more


PLAY_PAGE = """# Run the kernels

[This page](page.html){ .md-button } runs kernels of the labs on the course's simulator, in your browser: step
through them in both directions, change the items and the order in which warps run, and see what the checkers
find in wrong versions. It needs no GPU and no installation, and loads nothing from elsewhere.

"""


def add_play_page(build: pathlib.Path, gathered: pathlib.Path) -> None:
    """The page in which kernels run, and a page that leads to it, if this build has it."""
    if shutil.which("emcc") is None:
        without = "The site is built without kernels that run in the page. They need emscripten"
        print(f"{without}. Install it, then repeat:\n    sudo apt-get install -y emscripten")
        return
    if not (build / "play/machine.wasm").exists() or not any(build.glob("grader/play/play_*.json")):
        print("The site is built without kernels that run in the page: ./lab play has not made them yet.")
        return
    labs = make_play.labs_of(build, list(make_play.programs(build)))
    (gathered / "play").mkdir()
    (gathered / "play/page.html").write_text(make_play.page(build, labs), encoding="utf-8")
    (gathered / "play/index.md").write_text(PLAY_PAGE, encoding="utf-8")


class Gatherer:
    def __init__(self, target: pathlib.Path, instructor: bool) -> None:
        self.target, self.instructor = target, instructor
        self.done: set[str] = set()

    def may_show(self, name: str) -> bool:
        return self.instructor or edition.is_released(name)

    def add_all(self, pattern: str) -> None:
        """Adds the files of the course that match, and none of what a build has made inside of the checkout."""
        made = {path.parent for path in ROOT.glob("*/meson-private")}
        for path in sorted(ROOT.glob(pattern)):
            if not made.intersection(path.parents) and self.may_show(str(path.relative_to(ROOT))):
                self.add(str(path.relative_to(ROOT)))

    def add(self, name: str) -> None:
        """Adds a file of the repository, and what it links to."""
        if name in self.done:
            return
        self.done.add(name)
        path = ROOT / name
        if path.suffix in AS_THEY_ARE:
            self.target.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.target / name)
        elif path.suffix == ".md":
            self.write(name, adapted(self.linked(path, path.parent)))
        else:
            text = path.read_text(encoding="utf-8")
            fence = "`" * (3 + max((len(m) for m in re.findall(r"`{3,}", text)), default=0))
            language = LANGUAGES.get(path.suffix, "text")
            not_found = "---\nsearch:\n  exclude: true\n---\n"
            self.write(f"{name}.md", f"{not_found}# {name}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n")

    def linked(self, path: pathlib.Path, page: pathlib.Path) -> str:
        """The text of a file, for a page in this folder of the course, with what it links to."""
        home = path.parent if path.suffix == ".md" else page

        def lead(match: re.Match) -> str:
            if re.match(r"[a-z]+:", match[2]):
                return match[0]
            there = (home / match[2]).resolve()
            name = str(there.relative_to(ROOT))
            if name == "README.md":
                there = ROOT / "index.md"
            elif there.is_file() and not self.may_show(name):
                return match[1].lstrip("!").strip("[](")
            elif there.is_file():
                self.add(name)
            # The generator complains of what is not there, unless it is a folder.
            more = ".md" if there.is_file() and there.suffix not in AS_THEY_ARE | {".md"} else ""
            return f"{match[1]}{os.path.relpath(there, page)}{more}{match[3]}"

        parts = re.split(r"(^ *```.*?^ *```|`[^`\n]*`)", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        return "".join(part if k % 2 else LINK.sub(lead, part) for k, part in enumerate(parts))

    def write(self, name: str, text: str) -> None:
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def environment(folder: pathlib.Path) -> pathlib.Path:
    """The Python environment with the generator."""
    return packages.environment(folder / "site-venv", HERE / "requirements.txt", "the site")


def configuration(site: pathlib.Path, gathered: pathlib.Path) -> str:
    nav, listed = ["  - Start: index.md"], {"index.md"}
    for title, patterns in MENU.items():
        entries = []
        for pattern in patterns:
            found = sorted(str(path.relative_to(gathered)) for path in gathered.glob(pattern))
            entries += [
                name for name in found if name not in [*listed, *entries] and not NOT_LISTED.search(name)
            ]
        listed.update(entries)
        nav += [f"  - {title}:"] * bool(entries) + [f"    - {name}" for name in entries]
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    return f"{text}docs_dir: {gathered}\nsite_dir: {site}\nnav:\n" + "\n".join(nav) + "\n"


def main() -> None:
    words, options = [w for w in sys.argv[1:] if w[0] != "-"], [w for w in sys.argv[1:] if w[0] == "-"]
    if len(words) != 2 or options not in ([], ["--instructor"]):
        sys.exit("./lab site: it takes no argument but --instructor")
    labcli, folder = (pathlib.Path(word).resolve() for word in words)
    instructor = bool(options)
    gathered, site = folder / "site-pages", folder / ("site-instructor" if instructor else "site")
    shutil.rmtree(gathered, ignore_errors=True)
    gathered.mkdir(parents=True)
    gatherer = Gatherer(gathered, instructor)
    for patterns in MENU.values():
        for pattern in patterns:
            gatherer.add_all(pattern)
    if instructor:
        add_play_page(labcli.parent.parent, gathered)
    gatherer.write("reference/commands.md", pages.commands(ROOT, labcli))
    readme = ROOT / ("README.md" if instructor else "grader/release/edition/README.md.in")
    gatherer.write("index.md", front(gatherer, readme))
    make_pages(site, gathered, players.Players(labcli, with_source=instructor))
    index_glossary(site)
    print(site / "index.html")


def make_pages(site: pathlib.Path, gathered: pathlib.Path, playing: players.Players) -> None:
    """The site of the gathered pages, with their styles, scripts and players."""
    own = [HERE / name for name in ("site.css", "guess.js", "tables.js")]
    for path in (*own, ROOT / "grader/page/trace.js"):
        shutil.copyfile(path, gathered / path.name)
    (gathered / "steps.css").write_text(players.style(), encoding="utf-8")
    python = environment(site.parent)
    config = site.parent / "mkdocs.yml"
    config.write_text(configuration(site, gathered), encoding="utf-8")
    with Waiting(f"Making {sum(1 for _ in gathered.rglob('*.md'))} pages"):
        command: list = [python, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", config]
        done = subprocess.run(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if done.returncode != 0:
        sys.exit(done.returncode)
    shutil.copyfile(HERE / "worker_shim.js", site / "assets/worker_shim.js")
    with Waiting("Running the traces of the pages"):
        for page in site.rglob("*.html"):
            up = "../" * len(page.relative_to(site).parents[:-1])
            text = page.read_text(encoding="utf-8").replace(SHIM, f"{up}assets/worker_shim.js")
            text = re.sub(r'(role="?dialog"?)(?=[ >])', r'\1 aria-label="Search"', text, count=1)
            if page.name == "404.html":  # the theme names its files from the root of a server
                text = re.sub(r'((?:href|src)="?|"search": ?")/(?!/)', r"\1", text)
                text = text.replace('"base": "/"', '"base": "."').replace(*NOT_FOUND)
            page.write_text(playing.put_into(text), encoding="utf-8")


def index_glossary(site: pathlib.Path) -> None:
    """Lets the search open a row of the glossary: each row becomes a section of its own in the index."""
    path = site / "search/search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    page = "handouts/glossary.html"
    place = next(k for k, entry in enumerate(index["docs"]) if entry["location"] == page)
    text = (ROOT / "handouts/glossary.md").read_text(encoding="utf-8")
    rows = [
        {
            "location": f"{page}#{anchor}",
            "title": " · ".join((term, chinese, japanese)),
            # Words in parentheses are indexed separately.
            "text": re.sub(r"[（）；]", " ", f"{chinese} {japanese} {meaning}"),
        }
        for anchor, term, chinese, japanese, meaning in re.findall(
            r'^\| <a id="([^"]+)"></a>(.*?) \| (.*?) \| (.*?) \| (.*?) \|$', text, re.M
        )
    ]
    index["docs"][place]["text"] = "Terms in English, Chinese and Japanese."
    index["docs"][place + 1 : place + 1] = rows
    path.write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
    # What a page opened from a disk loads.
    path.with_suffix(".js").write_text(f"var __index = {json.dumps(index)}", encoding="utf-8")


if __name__ == "__main__":
    main()
