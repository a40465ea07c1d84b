"""The report in a real browser: on a phone and on a screen, in light and in dark."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import made_up
from sinkdist_paper import run, settings

pytest.importorskip("matplotlib")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"none of {', '.join(NAMES)} is installed")

SMALLEST_TEXT = 15  # pixels

# Text that a reader sees, with its size, its colour and the colour behind it.
TEXTS = """() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    for (let e = node; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node; (node = walker.nextNode());) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || !parent.checkVisibility()) continue;
    const style = getComputedStyle(parent);
    found.push({
      text: node.textContent.trim(), tag: parent.tagName, size: parseFloat(style.fontSize),
      colour: parse(style.color).slice(0, 3), behind: behind(parent),
    });
  }
  return found;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report on the real figure 1 and on two made-up ones; two figures are missing."""
    out = tmp_path_factory.mktemp("paper")
    real = run.experiment

    def experiment(name):
        long = "Time per distance against the dimension, for solvers with rather long names"
        return real(name) if name == "fig1" else made_up.figure(name, title=long)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "experiment", experiment)
        names = ["fig1", "fig3", "fig4"]
        return run.reproduce(names, settings.asked(out, quick=True), out, progress=False)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        # Without a sandbox, as within containers there is none; the page is our own.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


SCREENS = [(390, 844, "light"), (390, 844, "dark"), (1280, 900, "light"), (1280, 900, "dark")]


@pytest.fixture(scope="module", params=SCREENS, ids=lambda screen: f"{screen[0]}-{screen[2]}")
def page(request, browser, report):
    """The report, opened; all that the browser complained of or asked for is kept beside it."""
    width, height, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    context.set_default_timeout(120_000)  # ms; on a busy machine a page takes its time
    sheet = context.new_page()
    sheet.complaints, sheet.requests = [], []
    sheet.on("console", lambda message: sheet.complaints.append(message.text))
    sheet.on("pageerror", lambda error: sheet.complaints.append(str(error)))
    sheet.on("requestfailed", lambda call: sheet.complaints.append(f"failed: {call.url[:80]}"))
    sheet.on("request", lambda call: sheet.requests.append(call.url))
    sheet.goto(report.as_uri())
    sheet.scheme = scheme
    yield sheet
    context.close()


def test_no_complaints_and_no_requests(page, report):
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("data:")] == [report.as_uri()]


def test_nothing_is_wider_than_the_screen(page):
    wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen
    # What is wider scrolls within a box of its own, which the keyboard can reach.
    for box in page.query_selector_all(".box"):
        assert box.evaluate("box => getComputedStyle(box).overflowX") == "auto"
        assert box.get_attribute("tabindex") == "0"
        if box.is_visible():  # long tables are folded
            assert box.bounding_box()["width"] <= screen


def test_drawings_are_shown_whole(page):
    images = page.query_selector_all("figure img")
    assert len(images) == 3
    for image in images:
        size = image.evaluate(
            "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
        )
        assert min(size) > 100
        box = image.bounding_box()
        assert box["width"] > 300 and box["height"] > 150
        assert box["width"] / box["height"] == pytest.approx(size[0] / size[1], rel=0.02)
        assert len(image.get_attribute("alt")) > 40


def test_the_first_drawing_is_near_the_top(page):
    """Within one screen on a desktop, within two on a phone."""
    top, screen = page.evaluate(
        "[document.querySelector('figure img').getBoundingClientRect().top + scrollY, innerHeight]"
    )
    assert top < screen * (1 if page.viewport_size["width"] > 800 else 2)


def test_drawings_on_a_phone_have_letters_of_their_own_size(page):
    """A drawing made for a screen would be shrunk to half; there is a narrow one instead."""
    scale = "image => image.getBoundingClientRect().width / image.naturalWidth"
    for image in page.query_selector_all("figure img"):
        assert 0.75 < image.evaluate(scale) < 1.5


def test_drawings_follow_light_and_dark(page):
    """The corner of each drawing, as it is painted: light on a light page, dark on a dark one."""
    corner = """image => {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = 8;
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return [...context.getImageData(2, 2, 1, 1).data];
    }"""
    for image in page.query_selector_all("figure img"):
        shade = image.evaluate(corner)
        assert shade[3] == 255
        assert max(shade[:3]) < 60 if page.scheme == "dark" else min(shade[:3]) > 240


def test_headings_are_in_order(page):
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1 and levels.count(1) == 1
    assert levels.count(2) == 5  # three figures, what is missing, the machine
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.evaluate("document.documentElement.lang").startswith("en")
    assert page.title()


def test_verdicts_are_seen(page):
    counts = {"Holds": 5, "Holds in part": 2, "Does not hold": 2, "Not decided here": 2}
    for words, count in counts.items():
        marks = [
            mark
            for mark in page.query_selector_all(".verdict")
            if mark.inner_text().split("\n")[-1].lstrip("✓◐✗? ") == words
        ]
        assert len(marks) == count
        assert all(mark.is_visible() for mark in marks)


def test_tables_have_names_and_heads(page):
    tables = page.query_selector_all("table")
    assert len(tables) == 1 + 2 * 2 + 1
    for table in tables:
        assert table.query_selector("caption").text_content().strip()
        heads = table.query_selector_all("th")
        assert heads and all(head.get_attribute("scope") in ("col", "row") for head in heads)


def test_text_can_be_read(page):
    texts = page.evaluate(TEXTS)
    assert len(texts) > 100
    small = [t for t in texts if t["size"] < SMALLEST_TEXT and t["tag"] not in ("SUP", "SUB")]
    assert small == []
    pale = [t for t in texts if contrast(t["colour"], t["behind"]) < 4.5]
    assert pale == []


def contrast(one, other):
    """The ratio of luminances, as WCAG defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [value / 255 for value in colour]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_stands_alone(browser, report, tmp_path):
    """Without the files beside it, it is the same page."""
    alone = Path(shutil.copy(report, tmp_path / "alone.html"))
    sheet = browser.new_page()
    sheet.set_default_timeout(120_000)
    sheet.goto(alone.as_uri())
    sizes = [
        image.evaluate("image => image.decode().then(() => image.naturalWidth)")
        for image in sheet.query_selector_all("img")
    ]
    sheet.close()
    assert len(sizes) == 3 and min(sizes) > 100
