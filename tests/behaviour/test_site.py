"""The documentation site in a real browser: every page on a screen and on a phone.

Skipped where the site has not been built: ``make docs`` builds it and runs this.
"""

import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[2] / "build" / "docs"
if not (SITE / "index.html").exists():
    pytest.skip("the site is not built: make docs", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason=f"none of {', '.join(NAMES)} is installed"),
]

PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
EXAMPLES = [page for page in PAGES if page.startswith("gallery/plot_")]
SECONDS = 30  # that an example may take


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        # Without a sandbox, as within containers there is none; the pages are our own.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module", params=[(1280, 900), (390, 844)], ids=["1280", "390"])
def sheet(request, browser):
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(120_000)  # ms; on a busy machine a page takes its time
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_complaint_and_fits(sheet, name):
    complaints, strangers = [], []

    def note(message):
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def ask(call):
        if urlsplit(call.url).scheme in ("http", "https"):
            strangers.append(call.url)

    handlers = {"console": note, "pageerror": lambda e: complaints.append(str(e)), "request": ask}
    for event, handler in handlers.items():
        sheet.on(event, handler)
    sheet.goto((SITE / name).as_uri())
    for event, handler in handlers.items():
        sheet.remove_listener(event, handler)
    assert complaints == [] and strangers == []
    wide, screen = sheet.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen
    assert sheet.title()


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    text = (SITE / name).read_text(encoding="utf-8")
    for link in re.findall(r'(?:href|src)="([^"]+)"', text):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (SITE / name).parent / unquote(parts.path) if parts.path else SITE / name
        assert target.exists(), f"{name} links to {link}"
        if parts.fragment and target.suffix == ".html":
            there = target.read_text(encoding="utf-8")
            assert f'id="{unquote(parts.fragment)}"' in there, f"{name} links to {link}"


def test_the_gallery_has_ten_examples_with_pictures():
    assert len(EXAMPLES) >= 10
    for name in EXAMPLES:
        text = (SITE / name).read_text(encoding="utf-8")
        assert "sphx-glr-single-img" in text or "sphx-glr-multi-img" in text, name


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_quick(name):
    text = (SITE / name).read_text(encoding="utf-8")
    ((minutes, seconds),) = re.findall(r"\((\d+) minutes ([\d.]+) seconds\)", text)
    assert 60 * int(minutes) + float(seconds) < SECONDS


def test_every_public_name_is_in_the_reference():
    import sinkdist

    text = (SITE / "api.html").read_text(encoding="utf-8")
    missing = [
        name
        for name in sinkdist.__all__
        if f'id="sinkdist.{name}"' not in text and name != "similarity"
    ]
    assert missing == []


def test_the_explorer_answers_within_its_page(sheet):
    sheet.goto((SITE / "explorer.html").as_uri())
    sheet.locator("iframe.explorer").first.scroll_into_view_if_needed()
    inside = sheet.frame_locator("iframe.explorer >> nth=0")
    inside.locator("#find").fill("77")
    inside.locator("#find").press("Enter")
    assert inside.locator("#nearest button").count() == 12


def test_search_finds_a_page(sheet):
    sheet.goto((SITE / "search.html").as_uri() + "?q=barycenter")
    sheet.locator("#search-results li").first.wait_for()
    assert sheet.locator("#search-results li").count() > 2
