#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws those figures of the handouts that follow from code or from results: traces of the kernels that they
are about, and charts of results (charts.py). The others are drawings, kept as they are in handouts/figures.

    meson compile -C build figures                                   # writes handouts/figures/*.svg
    meson compile -C build charts                                    # those of results alone, in seconds
    handouts/scripts/figures.py --labcli build/grader/labcli [--check] [--charts] [NAME...]

TRACES says how each trace is made; the page that shows it says what it shows. --check changes nothing: exit
code 1 when a figure has drifted, is not used by any handout, or is used with other words than its own for
those who do not see it. Where the package that draws charts is missing, --check compares their specifications alone.
"""

import argparse
import html
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
HANDOUTS = HERE.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "common/tools")]
import charts
import packages
import quotes

# By name: the command that prints it.
TRACES = {
    "reduction-neighboured": "trace reduction neighboured --arrays d_in,s_data,d_out",
    "reduction-sequential": "trace reduction sequential --arrays d_in,s_data,d_out",
    "reduction-shuffle": "trace reduction shuffle --arrays d_in,lanes,d_out",
    "scan-hillis-steele": "trace scan hillis_steele",
    "scan-up-sweep": "trace scan blelloch --steps 2-5",
    "scan-down-sweep": "trace scan blelloch --steps 5-10",
    "scan-kogge-stone": "trace scan kogge_stone",
    "radix-keys": "trace radix_sort split --items 4,7,2,6,3,5,1,0 --arrays d_keys_in,d_e,d_f,d_t,d_d,d_keys_out "
    "--steps 1-21",
    "sat-passes": "trace sat serial --n 9",
}
USED = re.compile(r"!\[([^\]]*)\]\((?:handouts/)?figures/([\w-]+)\.svg\)")


def command_of(name: str) -> str:
    """Of a figure that is a trace, or of what `./lab trace` is to show."""
    return TRACES.get(name, f"trace {name}")


def traced(labcli: str | pathlib.Path, name: str, option: str, *more: str) -> str:
    """The file that `option` makes of a trace."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace"
        words = [labcli, *command_of(name).split(), "--solutions", option, path, *more]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{name}: {' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
        return path.read_text(encoding="utf-8")


def venv_of(labcli: str) -> pathlib.Path:
    return pathlib.Path(labcli).resolve().parents[1] / "charts-venv"


def use_packages(venv: pathlib.Path) -> None:
    """Lets this program import what is in an environment."""
    sys.path += map(str, venv.glob("lib/python*/site-packages"))


def is_drawn(path: pathlib.Path, chart: charts.Chart) -> bool:
    """Whether the file shows the chart: byte for byte where the package that draws it is at hand."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if importlib.util.find_spec("vl_convert"):
        return text == charts.render(chart)
    return f"<!-- specification {chart.digest()} -->" in text


def alternatives() -> dict[str, dict[str, str]]:
    """By figure: the words for those who do not see it, each with the page that has them."""
    found: dict = {}
    for page in sorted(HANDOUTS.glob("*.md")):
        for words, name in USED.findall(page.read_text(encoding="utf-8")):
            found.setdefault(name, {})[words] = page.name
    return found


def title_of(path: pathlib.Path) -> str:
    """The words of a figure for those who do not see it."""
    found = re.search(r"<title[^>]*>(.*?)</title>", path.read_text(encoding="utf-8"), re.S)
    return html.unescape(found[1]) if found else ""


def misused() -> Iterator[str]:
    """Figures that no handout shows, or in other words than their own; and those shown that are not there."""
    used = alternatives()
    files = {path.stem: path for path in (HANDOUTS / "figures").glob("*.svg")}
    for name in files.keys() ^ used.keys():
        yield f"figures/{name}.svg: either no handout shows it, or there is none"
    for name in files.keys() & used.keys():
        if [*used[name]] != [title_of(files[name])]:
            yield f"figures/{name}.svg is shown with other words than its own: {' / '.join(used[name])}"


def write_captions(names: dict, labcli: str) -> None:
    """Writes the captions and numbers of the charts into the pages."""
    for page in HANDOUTS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        wanted = quotes.filled(text, labcli, lambda kind, name: kind == "chart" and name in names)
        if wanted != text:
            page.write_text(wanted, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws the handouts' figures.")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--charts", action="store_true", help="only charts that need no simulation")
    parser.add_argument("--labcli", required=True, help="the built command line tool")
    parser.add_argument("names", nargs="*", help="figures to draw; all when none is named")
    arguments = parser.parse_args()
    if not arguments.check:
        packages.environment(venv_of(arguments.labcli), HERE / "requirements.txt", "charts")
    use_packages(venv_of(arguments.labcli))
    results = [name for name, chart in charts.CHARTS.items() if "simulated" not in chart]
    everything = results if arguments.charts else [*charts.CHARTS, *TRACES]
    for name in arguments.names:
        if name not in everything:
            sys.exit(f"there is no figure {name}; there are {', '.join(everything)}")
    names = arguments.names or everything
    made = {name: charts.made(name, arguments.labcli) for name in names if name in charts.CHARTS}
    if not arguments.check:
        write_captions(made, arguments.labcli)
    used = alternatives()
    complaints = list(misused()) if arguments.check and len(names) > len(charts.CHARTS) else []
    for name in names:
        path = HANDOUTS / "figures" / f"{name}.svg"
        if name in made:
            if is_drawn(path, made[name]):
                continue
            wanted = None if arguments.check else charts.render(made[name])
        else:
            if name not in used:
                sys.exit(f"no handout shows {name} yet: put ![what it shows](figures/{name}.svg) into one")
            wanted = traced(arguments.labcli, name, "--svg", "--title", next(iter(used[name])))
            if path.exists() and path.read_text(encoding="utf-8") == wanted:
                continue
        if arguments.check:
            target = "charts" if name in made else "figures"
            complaints.append(
                f"figures/{name}.svg has drifted: meson compile -C build {target} draws it afresh"
            )
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
