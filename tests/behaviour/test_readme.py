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


def test_the_readme_shows_the_last_full_benchmark():
    from benchmarks.readme import REPORT, section

    assert section(REPORT.read_text(encoding="utf-8")) in README.read_text(encoding="utf-8")


def test_examples_of_the_readme():
    text = README.read_text(encoding="utf-8")
    assert examples(text)
    assert not (report := failures(text)), "".join(report)


def test_this_test_can_fail():
    good = "```python\n>>> x = 1 + 1\n>>> x\n2\n```\ntext\n```python\n>>> x + 1\n3\n```\n"
    assert failures(good) == []
    assert failures(good.replace("\n3\n", "\n4\n"))
    assert len(examples(good)) == 2 and examples("```python\nx = 1\n```\n") == []
