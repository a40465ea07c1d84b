"""The README's examples run, and print what it says they print."""

import doctest
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(text):
    """The python blocks that show a session, with the number of their first line."""
    return [
        (text[: match.start(1)].count("\n"), match.group(1))
        for match in BLOCK.finditer(text)
        if ">>>" in match.group(1)
    ]


def failures(text, name="README.md"):
    """Run all blocks of a text one after another, names carried over; what went wrong."""
    parser, runner = (
        doctest.DocTestParser(),
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE),
    )
    names, report = {}, []
    for line, block in examples(text):
        test = parser.get_doctest(block, names, name, name, line)
        runner.run(test, out=report.append, clear_globs=False)
        names = test.globs
    return report


def test_the_docs_show_the_last_full_benchmark():
    from benchmarks.readme import PAGE, REPORT, plain, section

    page = PAGE.read_text(encoding="utf-8")
    assert section(REPORT.read_text(encoding="utf-8")) in page
    assert "targets met" not in page and "✗" not in page and "| 1 s |" not in page
    table = "`python x`: 1 of 2 targets met.\n\n| median of these |  | **2x ✗** |\n| a | 1 s |"
    assert plain(table) == "`python x`.\n\n| median of these |  | 2x |\n| a | 1 s |"


def test_the_readme_is_a_screen_and_a_half():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 100 and max(map(len, lines)) <= 180


def test_numbers_of_the_readme_are_those_of_the_benchmarks():
    """The four at the top, in the results that they cite."""
    text = README.read_text(encoding="utf-8")
    results = README.parent / "benchmarks" / "results"
    bench, exact, search = (
        (results / f"{name}.md").read_text(encoding="utf-8")
        for name in ("bench", "exact", "search")
    )
    assert "**34,789 pairs a second**" in text and "34,789 pairs per second" in bench
    batches = bench.split("\n## Batches solved to an L1", 1)[1].split("\n## ", 1)[0]
    ratios = [
        float(row.split("|")[3].strip(" x*✗")) for row in batches.splitlines() if "pairs, L" in row
    ]
    assert f"**{min(ratios):.0f} to {max(ratios):.0f} times** a loop over `ot.sinkhorn2`" in text
    rows = [row.split("|") for row in exact.splitlines() if row.startswith("| ")][2:]
    loops = [float(row[3].strip(" x*✗")) for row in rows if "R8" not in row[1]]
    assert f"**{min(loops):.0f} to {max(loops):.0f} times** a loop over `ot.emd2`" in text
    share = float(re.search(r"MNIST, exact: .*?([\d.]+) % of 60,000", search)[1])
    assert f"**{share:.2f} %** of the pairs" in text


def test_examples_of_the_readme():
    text = README.read_text(encoding="utf-8")
    assert examples(text)
    assert not (report := failures(text)), "".join(report)


def test_this_test_can_fail():
    good = "```python\n>>> x = 1 + 1\n>>> x\n2\n```\ntext\n```python\n>>> x + 1\n3\n```\n"
    assert failures(good) == []
    assert failures(good.replace("\n3\n", "\n4\n"))
    assert len(examples(good)) == 2 and examples("```python\nx = 1\n```\n") == []
