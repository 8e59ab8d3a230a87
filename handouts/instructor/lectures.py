# SPDX-License-Identifier: MIT
"""Planned lectures, for slides.py: a slide has one idea. Their pictures, code, results, messages of the
grader, questions and errata come from the course; only titles, at most 30 words on a slide, and the
lecturer's notes are written here. Weeks without a plan get slides from the handouts' sections.

No code, message or word is set smaller than 14 pt: a slide on which its contents do not fit is an error.
"""

import dataclasses
import html
import pathlib
import re
import sys

HANDOUTS = pathlib.Path(__file__).resolve().parent.parent
ROOT = HANDOUTS.parent
sys.path[:0] = [str(HANDOUTS), str(ROOT / "common/tools")]
import make_mutant

MOST_WORDS = 30
MARKS = "①②③④⑤"


@dataclasses.dataclass
class Slide:
    title: str
    words: str = ""  # Markdown of one paragraph
    notes: str = ""  # what the lecturer says, asks and expects as an answer

    def shown(self):
        """Typst content above the words, or ""."""
        return ""


@dataclasses.dataclass
class Picture(Slide):
    """A figure of the handouts."""

    figure: str = ""

    def shown(self):
        text = (HANDOUTS / f"figures/{self.figure}.svg").read_text(encoding="utf-8")
        alt = html.unescape(re.search(r"<title[^>]*>(.*?)</title>", text)[1])
        width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', text).groups())
        picture = f"image({quoted(f'/handouts/figures/{self.figure}.svg')}, alt: {quoted(alt)}, "
        picture += 'width: 100%, height: 100%, fit: "contain")'
        if height < 0.5 * width:
            return picture, False
        # A picture that is not wide takes the whole height; the words stand beside it.
        beside = f"align(horizon, text(size: 20pt)[{inline(self.words)}])"
        return f"grid(columns: (2fr, 1fr), rows: 100%, gutter: 1em, {picture}, {beside})", True


@dataclasses.dataclass
class Code(Slide):
    """The lines of a solution's function between two that match, without its hints. `calls`: lines that
    match, and a few words about each."""

    lab: str = ""
    function: str = ""
    first: str = "."
    last: str = "."
    calls: tuple = ()

    def shown(self):
        source = (ROOT / f"solutions/{self.lab}/{self.lab}.cu").read_text(encoding="utf-8")
        begin, end = make_mutant.function_range(source, self.function, self.lab)
        lines = [line for line in source[begin:end].splitlines() if not re.match(r"\s*//@", line)]
        start = next(k for k, line in enumerate(lines) if re.search(self.first, line))
        stop = max(k for k, line in enumerate(lines) if re.search(self.last, line))
        lines = [without_comment(line) for line in lines[start : stop + 1]]
        for mark, (pattern, _) in zip(MARKS, self.calls):
            k = next((k for k, line in enumerate(lines) if re.search(pattern, line)), None)
            if k is None:
                sys.exit(f"lectures.py: no line of {self.function} is like {pattern}")
            lines[k] += f"  {mark}"
        said = "".join(f"[{mark}], [{words}], " for mark, (_, words) in zip(MARKS, self.calls))
        return code_of(lines) + f" + v(0.6em) + grid(columns: (auto, 1fr), gutter: 0.5em, {said})"


@dataclasses.dataclass
class Says(Slide):
    """A wrong submission: the lines that differ from the solution, and what the grader says of it."""

    mutant: str = ""

    def shown(self):
        lab, name = self.mutant.split("/")
        source = (ROOT / f"grader/mutants/{self.mutant}.mutant").read_text(encoding="utf-8")
        _, changes = make_mutant.parse(source, self.mutant)
        lines = []
        for _, right, wrong in changes:
            for sign, text in (("-", right), ("+", wrong)):
                lines += [f"{sign} {without_comment(line)}" for line in text.splitlines()]
        matrix = (HANDOUTS / "kill-matrix.md").read_text(encoding="utf-8")
        title = re.search(r"^# Lab \d: (.*)", page_of(lab), re.M)[1]
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", matrix, re.M | re.S)[1]
        row = re.search(rf"^\| `{name}` \| (.*?) \| (.*?) \| .*? \| (.*) \|$", section, re.M)
        task, verdict, message = (html.unescape(cell) for cell in row.groups())
        message = re.sub(rf"mutant_{lab}_{name}\.cu", f"{lab}.cu", message)
        return (
            code_of(lines)
            + f" + v(0.8em) + block(fill: luma(240), inset: 0.6em, width: 100%, text(size: 16pt)[*{task}: "
            + f"#text(fill: rgb(161, 22, 22))[#{quoted(verdict)}]* \\ #{quoted(message)}])"
        )


@dataclasses.dataclass
class Question(Slide):
    """A prediction of the lab's page, by its number."""

    lab: str = ""
    number: int = 1

    def shown(self):
        asked = re.search(r"^## Predict, then measure\n(.*?)^## ", page_of(self.lab), re.S | re.M)[1]
        items = re.findall(r"^\d+\. (.*?)(?=^\d+\. |\Z)", asked, re.S | re.M)
        said = re.sub(r"\s*\(Compare.*?\)$", "", " ".join(items[self.number - 1].split()))
        return f"align(horizon, text(size: 24pt)[{inline(said)}])"


@dataclasses.dataclass
class Erratum(Slide):
    """A kernel of errata.md, in which the class looks for the mistake."""

    number: int = 1

    def shown(self):
        text = (HANDOUTS / "errata.md").read_text(encoding="utf-8")
        section = re.search(rf"^## {self.number}\. .*?\n(.*?)(?=^<a id=|\Z)", text, re.M | re.S)[1]
        return code_of(re.search(r"```cuda\n(.*?)```", section, re.S)[1].splitlines())


def without_comment(line):
    return re.sub(r"\s+// .*$", "", line)


def page_of(lab):
    return next(HANDOUTS.glob(f"[0-9][0-9]-{lab.replace('_', '-')}.md")).read_text(encoding="utf-8")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def code_of(lines):
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return f'raw(block: true, lang: "cpp", {quoted(chr(10).join(line[indent:] for line in lines))})'


def inline(text):
    import slides  # which shows these plans

    return slides.inline(text)


HEAD = """
#let fitted(body) = layout(size => {
  for points in (20, 18, 17, 16, 15, 14) {
    let sized = { set text(size: points * 1pt); show raw: set text(size: 1em); body }
    let room = measure(block(width: size.width, sized))
    if room.height <= size.height and room.width <= size.width { return block(width: size.width, sized) }
  }
  panic("does not fit at 14 pt")
})
#let planned(title, words, body) = {
  pagebreak(weak: true)
  block(height: 100%, width: 100%, grid(rows: (auto, 1fr, auto), row-gutter: 0.7em, heading-of(title), body,
    if words != [] { text(size: 20pt, words) }))
}
"""


def typst(plan):
    out = HEAD
    for slide in plan:
        shown = slide.shown()
        words = slide.words
        if isinstance(slide, Picture):
            body, has_words = shown
            words = "" if has_words else words
        elif shown:
            body = f"fitted({shown})"
        else:
            body, words = f"align(horizon, text(size: 26pt)[{inline(words)}])", ""
        out += f"#planned({quoted(slide.title)}, [{inline(words)}], {body})\n"
    return out


def notes(plan, title):
    """What the lecturer reads, slide by slide."""
    out = '#set page(margin: 2cm, numbering: "1")\n#set text(size: 11pt)\n'
    out += f"#text(size: 16pt)[*Notes: #{quoted(title)}*]\n"
    for number, slide in enumerate(plan, 2):  # the first slide is the title
        out += f"\n*{number}. #{quoted(slide.title)}* \\ {inline(slide.notes)}\n"
    return out


LECTURES = {
    2: [
        Slide(
            "One value from a billion",
            "Sum, maximum, mean: the same loop. Each step needs the one before it. How many threads can "
            "help?",
            "Write the loop on the board: s = s + x[i]. Ask which operators allow another order. Expected: "
            "associativity lets us regroup, commutativity lets us reorder. The kernels of this lecture "
            "need only what their order of partners needs.",
        ),
        Picture(
            "A tournament",
            "All matches of a round can be played at the same time. How many rounds, and how many matches?",
            "Eight items, seven matches, three rounds. A loop needs seven steps for the same seven "
            "operations. Let the class say both numbers for a million items: 20 rounds, 999,999 matches.",
            figure="reduction-tournament",
        ),
        Picture(
            "A tree: neighbours first",
            "Round k combines partners 2ᵏ apart. Which threads are busy in the second round?",
            "Go through the figure from top to bottom; each strip is shared memory after a round. The "
            "answer: threads 0, 4, … In every warp some lanes are idle, but no warp is.",
            figure="reduction-neighboured",
        ),
        Code(
            "The first kernel",
            "",
            "Ask for each barrier which write it separates from which read. Then delete the second barrier "
            "in your mind: the next slides show what happens.",
            lab="reduction",
            function="k01_neighboured",
            first="s_data\\[tid\\] = gid",
            last="d_out\\[blockIdx",
            calls=(
                ("gid < n", "the guard is the identity: no thread returns early"),
                ("__syncthreads", "all items are stored before partners read them"),
                ("tid % ", "which lanes of a warp take part?"),
            ),
        ),
        Says(
            "A barrier is missing",
            "Two threads, one word, no order between them.",
            "The checker reports the first pair of accesses that nothing orders. The result may be right "
            "on your GPU today: a race is a fault of the program, not of one run.",
            mutant="reduction/missing_barrier",
        ),
        Erratum(
            "Find the mistake: a kernel from a book",
            "4 blocks of 64 threads, n = 200. Two minutes, in pairs.",
            "Expected: the guard compares tid instead of the global index, so block 3 reads past the end. "
            "Some also find that threads which return miss the barrier: that is the next slide.",
            number=1,
        ),
        Says(
            "A guard must not skip a barrier",
            "Every thread of the block reaches every barrier, or none does.",
            "A thread without an item loads the identity and stays. The message names the barrier and how "
            "many threads of the block reached it.",
            mutant="reduction/exited_threads",
        ),
        Question(
            "Predict: active lanes",
            "Compute it for the loop alone. Then we read it in the profile.",
            "Let students write a number before anybody speaks. Blocks of 256, eight rounds. Run ./lab "
            "profile reduction neighboured --solutions, and compare the line of the loop with the whole "
            "kernel.",
            lab="reduction",
            number=1,
        ),
        Picture(
            "Which lanes work?",
            "Rung 1 spreads them over all warps. Rungs 2 and 3 fill whole warps.",
            "A box is a thread, a row is a round. A warp with one active lane costs as much as a full one. "
            "Ask in which rounds rung 3 has an idle lane in a busy warp: the last five.",
            figure="reduction-lanes",
        ),
        Picture(
            "A branch splits a warp",
            "Both sides run, one after the other. A branch by whole warps costs nothing.",
            "Time runs downwards. Connect it to the previous slide: tid % (2·stride) is such a branch.",
            figure="divergence",
        ),
        Picture(
            "Re-indexing: whole warps, and a new cost",
            "Words in one bank take turns. Why is a stride of 33 free?",
            "Rung 2 uses strides 2, 4, 8 …: conflicts. Padding by one word turns a stride of 32 into 33. "
            "Ask for the wavefronts of a stride of 3 before you show the slider of the site's page.",
            figure="banks",
        ),
        Picture(
            "Partners half an array apart",
            "No conflicts, no idle lanes in busy warps. What must the operator allow?",
            "The order of operands changes: this needs commutativity. Step through the trace on the site.",
            figure="reduction-sequential",
        ),
        Code(
            "One line differs",
            "",
            "Show it beside the first kernel. Everything else is the same; ask why the guard needs no "
            "modulo.",
            lab="reduction",
            function="k03_sequential",
            first="for \\(unsigned stride",
            last="^  }$",
            calls=(
                ("stride = kBlock / 2", "the distance shrinks"),
                ("tid < stride", "the first lanes work: warps retire as a whole"),
            ),
        ),
        Picture(
            "The last 32 values: shuffles",
            "A warp exchanges registers: no array, no barrier.",
            "Each lane adds the value of a lane further up. Lanes without a partner compute something that "
            "nobody uses.",
            figure="reduction-shuffle",
        ),
        Says(
            "A warp is not lockstep",
            "Since Volta, lanes need `__syncwarp()` or a shuffle to exchange values.",
            "The classic code with volatile and no barrier is wrong on every current GPU, even if it gives "
            "the right sum.",
            mutant="reduction/missing_syncwarp",
        ),
        Erratum(
            "Find the mistake: a repaired kernel",
            "The launch, the guard and the barriers are right now. Are they?",
            "Expected: the partner of a thread may be past the end although the thread is not. Let them "
            "name the smallest n for which it fails.",
            number=3,
        ),
    ],
    3: [
        Question(
            "Predict: how much faster?",
            "Write three numbers. The chart comes in ten minutes.",
            "Collect the answers as a show of hands for the factor between rungs 1 and 6.",
            lab="reduction",
            number=5,
        ),
        Picture(
            "The roof of a sum",
            "A sum has one addition per four bytes. What is the most that a kernel can gain?",
            "The distance to the slanted line is what is left. The flat roof is out of reach for a sum: it "
            "would need sixteen additions per item.",
            figure="roofline",
        ),
        Slide(
            "Fewer threads, more items each",
            "One thread adds many items in a register: no barrier, no idle lane, and several loads in "
            "flight.",
            "Brent's argument: n/p items per thread, then a tree over p. Ask for the number of barriers per "
            "item: it goes to zero.",
        ),
        Code(
            "Coarsening",
            "",
            "strided_fold is the loop over the grid with 16-byte loads; block_fold is last week's kernel. "
            "Ask why neighbouring threads must read neighbouring vectors.",
            lab="reduction",
            function="k06_coarsened",
            first="^__global__",
            last="^}",
        ),
        Says(
            "A 16-byte load needs an aligned address",
            "Inputs may start anywhere that suits their type: single items before and after.",
            "The grader's inputs are shifted on purpose. cudaMalloc hides this mistake.",
            mutant="reduction/misaligned_pack",
        ),
        Picture(
            "Measured: the whole ladder",
            "Which of your three numbers was wrong? Which idea paid most?",
            "From rung 6 on, the time is that of the memory. Rung 2 is slower than rung 1: bank conflicts "
            "cost more than the idle lanes did.",
            figure="ladder-reduction",
        ),
        Picture(
            "Small inputs",
            "Few items reach only a part of the rate. What takes the time?",
            "A launch and the first loads take microseconds. That is where one launch instead of two helps.",
            figure="rate-reduction",
        ),
        Says(
            "One launch: who is last?",
            "A ticket orders nothing by itself: the results need a fence before it.",
            "The pattern: store, fence, ticket; the block with the last ticket adds up. Refer to the page on "
            "communication between running threads.",
            mutant="reduction/ticket_without_fence",
        ),
        Slide(
            "From one result to all of them",
            "Scan: every prefix. It looks serial, as the sum did. Count steps and work separately.",
            "Inclusive and exclusive on 3 1 7 0 4 1 6 3. Let the class give the exclusive one.",
        ),
        Picture(
            "Hillis–Steele",
            "log₂ n rounds, each adds the value 1, 2, 4 … to the left. How many additions altogether?",
            "About n log₂ n, against n − 1 of the loop. Two buffers: each round reads one and writes the "
            "other.",
            figure="scan-hillis-steele",
        ),
        Code(
            "Two buffers, one barrier per round",
            "",
            "Ask what goes wrong with one buffer before you go on.",
            lab="scan",
            function="k03_hillis_steele",
            first="for \\(",
            last="^  }",
        ),
        Erratum(
            "Find the mistake: a scan in place",
            "One buffer, one barrier per round. Which thread reads what, and when?",
            "Expected: a thread may read a value that its neighbour has already replaced in the same round.",
            number=4,
        ),
        Says(
            "What the checker sees",
            "",
            "Same class of mistake in a submission. Note that the message names both accesses.",
            mutant="scan/missing_barrier",
        ),
    ],
    4: [
        Slide(
            "Ten additions for each item",
            "For 1,024 items, Hillis–Steele does 9,217 additions. The loop does 1,023. Can a scan be fast and "
            "frugal?",
            "Repeat the network of last week on the board, for eight items: 7 + 6 + 4 = 17 additions. Ask who "
            "pays for the additional ones: with free lanes nobody does, with more items than lanes everybody.",
        ),
        Picture(
            "Up: a tree that keeps its results",
            "Right children become sums. Left children stay: why do we need them?",
            "Follow one node: it is stored at its last leaf. 4 + 2 + 1 additions. Do not answer the question "
            "yet; the way down answers it.",
            figure="scan-up-sweep",
        ),
        Picture(
            "Down: what comes before",
            "Every node receives the sum of everything to its left. What does the root receive?",
            "The identity. A left child gets its parent's prefix, a right child gets this prefix and the sum "
            "of its left sibling. That is why the sums of left children were kept.",
            figure="scan-down-sweep",
        ),
        Code(
            "Both sweeps",
            "",
            "Ask for each barrier which write it separates from which read. Let the class find the two lines "
            "in which the order of the operands matters.",
            lab="scan",
            function="k04_blelloch",
            first="for \\(unsigned half = 1",
            last="^  }$",
            calls=(
                (
                    "s_data\\[k\\] = job.op\\(s_data\\[k - half\\], s_data",
                    "left child first: op need not commute",
                ),
                ("s_data\\[leaves - 1\\]", "one thread sets the root"),
                ("const Value left", "keep the left child before it is overwritten"),
            ),
        ),
        Says(
            "A level must wait for the level below",
            "From half = 32 on, another warp wrote the left child.",
            "Below half = 32 both threads are in one warp, but lanes need not run in lockstep either. The "
            "message shows the first pair of accesses that nothing orders.",
            mutant="scan/no_barrier_between_levels",
        ),
        Says(
            "“It becomes [6, 22]”",
            "The left child keeps its sum: a mistake of a published text.",
            "Let the class do the level by hand for 0 … 7: [6, 22] are the sums on the way up, [0, 6] are the "
            "prefixes on the way down. See erratum 7.",
            mutant="scan/left_keeps_its_sum",
        ),
        Erratum(
            "Find the mistake: a down-sweep",
            "64 items, one block. Which access is wrong first?",
            "Expected: the condition makes k the right child, and the body uses it as the left one, so the "
            "last node accesses the array past its end. It is erratum 6.",
            number=6,
        ),
        Says(
            "Sums do not notice",
            "Swapped operands: right for sum, min and max. Affine maps show the mistake.",
            "Ask for an operator without commutativity before you show the message: maps, matrices, strings.",
            mutant="scan/swapped_operands",
        ),
        Question(
            "Predict: operations",
            "Use the formulas first. Then we read the counters.",
            "Expected: 9.0 and 2.0 per item. The counter shows 2.99 for the sweeps, because the compiler also "
            "computes the inclusive result and discards it.",
            lab="scan",
            number=1,
        ),
        Slide(
            "Which one is faster?",
            "A third of the additions, twice as many barriers, and levels with a single node. Vote now.",
            "Collect the votes. Then open the table under “Hillis–Steele or Blelloch” of the page: the "
            "network is faster on this GPU. A warp's instruction takes the same time for one active lane as "
            "for 32.",
        ),
        Picture(
            "In a warp: the network again",
            "The same arrows, in registers. What became of the buffers and barriers?",
            "Shuffles replace both. All lanes work at the same time, so the number of steps decides.",
            figure="scan-kogge-stone",
        ),
        Code(
            "Five shuffles",
            "",
            "Ask why the shuffle is outside of the branch: all lanes of the mask must execute it.",
            lab="scan",
            function="warp_inclusive_scan",
            first="const unsigned lane",
            last="return value",
            calls=(
                ("shuffle_up", "all 32 lanes take part, with or without an item"),
                ("lane >= offset", "a lane without a partner keeps its value"),
            ),
        ),
        Says(
            "A lane without a partner",
            "`__shfl_up_sync` returns the lane's own value if there is no lane below.",
            "The lower lanes combine their own value twice. The result is wrong from the first lane on.",
            mutant="scan/no_lane_guard",
        ),
        Erratum(
            "Find the mistake: any length",
            "50 items in a tree of 64 leaves. All accesses are valid. What is the sum?",
            "Expected: the thread of the last leaf is the root's, but it has no item, so it does nothing and "
            "the result stays 0. Test a length that is not a power of two.",
            number=14,
        ),
    ],
    5: [
        Slide(
            "More items than threads",
            "4,096 items, 256 threads. Networks are fast but wasteful, a loop is frugal but serial. Who does what?",
            "Let the class propose. Expected: each thread takes 16 items with a loop, and a network scans the "
            "256 totals.",
        ),
        Code(
            "Warps first, then their totals",
            "",
            "Ask why the totals must be scanned exclusively, and which barrier could be left out (none of them).",
            lab="scan",
            function="block_exclusive_scan",
            first="const Value inclusive",
            last="return op",
            calls=(
                ("if \\(lane == kWarp - 1", "the last lane knows the warp's total"),
                ("if \\(warp == 0", "one warp scans all totals"),
                ("return op", "what the warps before have, then the lanes before"),
            ),
        ),
        Says(
            "One barrier too few",
            "Warp 0 is still writing the totals when the others read them.",
            "Let the class find the two lines before you show the message. It names the write, the read and "
            "what is missing between them.",
            mutant="scan/prefixes_too_early",
        ),
        Code(
            "Each thread has a chunk",
            "",
            "The chunk is read twice: once for its total, and once for the results. Ask why the row is in "
            "shared memory: with chunks, neighbouring threads would read addresses that are far apart.",
            lab="scan",
            function="k09_coarsened",
            first="const unsigned first",
            last="before = up_to",
            calls=(
                ("const unsigned last", "the last chunk may be shorter"),
                ("block_exclusive_scan", "256 totals, one network"),
                ("before = up_to", "the loop continues from the prefix"),
            ),
        ),
        Says(
            "A chunk past the row",
            "The row's length need not be a multiple of the chunk.",
            "Ask for the smallest row that shows the mistake.",
            mutant="scan/chunk_past_the_row",
        ),
        Question(
            "Predict: barriers",
            "Four rows of rung 3, or one row of rung 9?",
            "Expected: 44 barriers and 4. Then open the counts of the page.",
            lab="scan",
            number=5,
        ),
        Picture(
            "How fast is a scan?",
            "How many items does the top rung need for half of its final rate?",
            "Read the axes first. For few items the start of the kernel takes most of the time, so all curves "
            "are low.",
            figure="rate-scan",
        ),
        Slide(
            "A scan that starts again",
            "Segments: an item may start a new one. Which operator on pairs (flag, value) does this?",
            "Expected: if the right pair has a flag, its value alone counts. The flag of the result is set if "
            "either flag is. Check on the board that it is associative.",
        ),
        Says(
            "The flags are ignored",
            "The message says where a segment begins and the sum goes on.",
            "Ask which test would not notice: segments that cover the whole row.",
            mutant="scan/heads_ignored",
        ),
        Picture(
            "Scan computes positions",
            "Flags become positions. Where does the last kept item go?",
            "Ask what each kept item must know: how many kept items are before it. This is an exclusive scan "
            "of the flags.",
            figure="compaction-map-scan-scatter",
        ),
        Code(
            "Three kernels: the last one",
            "",
            "All writes go to different positions, so no atomics are needed. Ask what happens if n is 0.",
            lab="compaction",
            function="k02_scatter",
            first="if \\(gid < n",
            last="n == 0",
            calls=(
                ("if \\(kept\\)", "no two threads have the same position"),
                ("gid \\+ 1 == n", "the last item's thread knows the count"),
                ("n == 0", "somebody has to write the count"),
            ),
        ),
        Says(
            "“The last value is the count”",
            "Half of all random tests pass.",
            "Do the flags 1 1 0 1 0 1 0 1 by hand first. This is erratum 9; ask for the correct formula.",
            mutant="compaction/last_flag_forgotten",
        ),
        Says(
            "Totals need a scan, too",
            "Which offset should block 0 get, and which one does it get?",
            "Expected: 0, and its own total. A block needs the sum of the totals of all blocks before it, which is "
            "an exclusive scan of the totals.",
            mutant="compaction/offsets_of_one_level",
        ),
    ],
}
