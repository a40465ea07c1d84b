"""The explorer in a real browser: clicks, keys, slider, search, phone; its numbers are ours."""

import shutil
import time

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.explore import family_of, write_page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("sklearn")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"none of {', '.join(NAMES)} is installed")

SCREENS = [(1280, 900, "light"), (390, 844, "dark")]
QUICK = 100  # ms, from a click to what it shows
WORDS = ["cat", "dog", "car", "bus", "tea", "mug"]
POINTS = np.array([[0, 0], [1, 0], [9, 0], [9, 1], [0, 9], [1, 9]], float)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        # Without a sandbox, as within containers there is none; the page is our own.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:120] / X[:120].sum(axis=1, keepdims=True), y[:120]


GROUND = sd.Ground.grid(8, 8).scaled()


@pytest.fixture(scope="module")
def family(digits):
    X, y = digits
    return family_of(X, GROUND, labels=y, method="mds", names=[f"digit {k}" for k in range(120)])


@pytest.fixture(scope="module")
def words():
    rows = np.random.default_rng(1).dirichlet(np.ones(6), size=8)
    return family_of(
        rows, sd.Ground.points(POINTS), bins=WORDS, names=[f"text {k}" for k in range(8)],
        method="mds",
    )  # fmt: skip


def opened(browser, file, screen):
    width, height, scheme = screen
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    context.set_default_timeout(120_000)  # ms; on a busy machine a page takes its time
    sheet = context.new_page()
    sheet.complaints, sheet.requests = [], []
    sheet.on("console", lambda message: sheet.complaints.append(message.text))
    sheet.on("pageerror", lambda error: sheet.complaints.append(str(error)))
    sheet.on("request", lambda call: sheet.requests.append(call.url))
    sheet.goto(file.as_uri())
    return context, sheet


@pytest.fixture(params=SCREENS, ids=lambda screen: f"{screen[0]}-{screen[2]}")
def page(request, browser, family, tmp_path):
    file = tmp_path / "page.html"
    write_page(family, file, title="Digits")
    context, sheet = opened(browser, file, request.param)
    yield sheet
    assert sheet.complaints == [] and sheet.requests == [file.as_uri()]
    wide, screen = sheet.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= screen
    context.close()


@pytest.fixture
def text_page(browser, words, tmp_path):
    write_page(words, tmp_path / "words.html")
    context, sheet = opened(browser, tmp_path / "words.html", SCREENS[0])
    yield sheet
    assert sheet.complaints == []
    context.close()


def click(page, row):
    box = page.locator("#map").bounding_box()
    x, y = page.evaluate("k => explorer.map.at(k)", row)
    # Another may lie on the same spot: the map takes the nearest, which is this one or as near.
    page.mouse.click(box["x"] + x, box["y"] + y)


def until(page, condition):
    """Wait until ``condition`` holds, asked from outside: the page's policy allows no ``eval``,
    which is how ``wait_for_function`` would ask again inside of it."""
    give_up = time.monotonic() + 120
    while not page.evaluate(condition):
        assert time.monotonic() < give_up, f"{condition} has not come true in 120 s"
        page.wait_for_timeout(50)


def settled(page):
    """Wait until the plan of the slider's stop has converged."""
    until(page, "document.body.dataset.converged === 'true'")
    return float(page.evaluate("document.body.dataset.value"))


def test_one_click_shows_the_nearest(page, family):
    click(page, 5)
    first = page.evaluate("explorer.map.first")
    shown = page.locator("#nearest button").evaluate_all(
        "all => all.map(b => Number(b.dataset.row))"
    )
    assert shown == family.near[first].tolist()
    texts = page.locator("#nearest small").all_inner_texts()
    for text, distance in zip(texts, family.distances[first], strict=True):
        assert text.endswith("✓") and float(text.split()[0]) == pytest.approx(distance, rel=1e-3)


def test_two_clicks_show_what_moves_and_the_numbers_are_ours(page, digits):
    click(page, 5)
    page.locator("#nearest button").nth(2).click()
    one, two = page.evaluate("[explorer.map.first, explorer.map.second]")
    X, _ = digits
    stops = page.evaluate("JSON.parse(document.getElementById('data').textContent).stops")
    for stop, strength in enumerate(stops[:6]):
        page.locator("#slider").fill(str(stop))
        expected = sd.solve(X[one], X[two], GROUND, lam=strength)
        assert settled(page) == pytest.approx(expected.value, rel=2e-5)
    rows = page.locator("#moves tbody tr").evaluate_all(
        "all => all.map(r => [...r.cells].map(c => c.textContent))"
    )
    for (source, target, mass, cost), move in zip(rows, expected.moves(5), strict=True):
        assert source == "{}, {}".format(*divmod(move.source, 8))
        assert target == "{}, {}".format(*divmod(move.target, 8))
        assert float(mass) == pytest.approx(move.mass, rel=1e-2)
        assert float(cost) == pytest.approx(move.cost, rel=1e-2)


def test_arrows_are_drawn(page):
    click(page, 5)
    page.locator("#nearest button").first.click()
    settled(page)
    painted = page.locator("#flow").evaluate(
        "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    assert painted > 20


def test_a_click_is_answered_quickly(page):
    times = []
    for row in (5, 17, 40):
        page.evaluate("explorer.startAgain()")
        click(page, row)
        times.append(float(page.evaluate("document.body.dataset.reaction")))
        page.locator("#nearest button").first.click()
        times.append(float(page.evaluate("document.body.dataset.reaction")))
    assert sorted(times)[len(times) // 2] < QUICK


def test_second_click_on_the_map_compares_and_a_third_starts_again(page):
    click(page, 5)
    first = page.evaluate("explorer.map.first")
    far = page.evaluate("explorer.family.count") - 1
    click(page, far)
    page.evaluate("scrollTo(0, 0)")
    second = page.evaluate("explorer.map.second")
    assert second >= 0 and second != first and page.locator("#compared").is_visible()
    page.locator("#turn").click()
    assert page.evaluate("[explorer.map.first, explorer.map.second]") == [second, -1]


def test_search_by_name(page):
    page.locator("#find").fill("digit 77")
    page.locator("#find").press("Enter")
    assert page.evaluate("explorer.map.first") == 77
    assert page.locator("#chosen-name").inner_text().startswith("digit 77")
    page.locator("#find").fill("no such name")
    page.locator("#find").press("Enter")
    assert "No name" in page.locator("#hint").inner_text()
    assert page.evaluate("explorer.map.first") == 77


def test_the_keyboard_is_enough(page):
    page.locator("#map").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("explorer.map.first") >= 0
    before = page.evaluate("explorer.map.first")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("explorer.map.first") != before
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    assert page.locator("#compared").is_visible()
    zoom = page.evaluate("explorer.map.view.zoom")
    page.keyboard.press("+")
    assert page.evaluate("explorer.map.view.zoom") > zoom
    page.keyboard.press("Escape")
    assert page.evaluate("explorer.map.first") == -1 and not page.locator("#chosen").is_visible()
    page.keyboard.press("Tab")  # the map lets the keyboard go on
    assert page.evaluate("document.activeElement.id") != "map"


def test_zoom_by_wheel_and_drag(page):
    box = page.locator("#map").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.wheel(0, -400)
    until(page, "explorer.map.view.zoom > 2")
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 30, steps=4)
    page.mouse.up()
    assert page.evaluate("explorer.map.view.x") < 0
    assert page.evaluate("explorer.map.first") == -1  # a drag is no click


def test_words_are_listed(text_page, words):
    page = text_page
    click(page, 3)
    one = page.evaluate("explorer.map.first")
    row = words.rows.toarray()[one]
    assert page.locator("#chosen-words").inner_text() == ", ".join(
        WORDS[k] for k in np.argsort(-row)
    )
    page.locator("#nearest button").first.click()
    two = page.evaluate("explorer.map.second")
    page.locator("#slider").fill("3")
    median = words.ground.median
    solution = sd.solve(row, words.rows.toarray()[two], words.ground, lam=10 / median)
    assert settled(page) == pytest.approx(solution.value, rel=2e-5)
    found = page.locator("#moves tbody tr").first.evaluate(
        "r => [...r.cells].map(c => c.textContent)"
    )
    move = solution.moves(1, names=WORDS)[0]
    assert found[:2] == [move.source, move.target]


def test_what_does_not_converge_says_so(text_page):
    """Without time for a sweep, the page shows the error that is left."""
    text_page.evaluate("""() => {
      const pair = new Pair({bins: [0, 1], mass: [.5, .5]}, {bins: [0, 1], mass: [.2, .8]},
                            (i, j) => Math.abs(i - j));
      window.late = pair.solve(30, -1);
    }""")
    late = text_page.evaluate(
        "({error: late.error, converged: late.converged, sweeps: late.sweeps})"
    )
    assert not late["converged"] and late["error"] > 1e-6 and late["sweeps"] == 0


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"])
def test_costs_of_points_are_computed_in_the_page(browser, tmp_path, monkeypatch, metric):
    monkeypatch.setattr("sinkdist.explore.page.COSTS_UP_TO", 0)
    rng = np.random.default_rng(2)
    places, rows = rng.normal(size=(6, 5)), rng.dirichlet(np.ones(6), size=4)
    ground = sd.Ground.points(places, metric=metric).scaled()
    shown = family_of(rows, ground, method="mds", points=places, metric=metric)
    write_page(shown, tmp_path / "points.html")
    context, sheet = opened(browser, tmp_path / "points.html", SCREENS[0])
    sheet.evaluate("explorer.show(0); explorer.compare(1)")
    sheet.locator("#slider").fill("3")
    expected = sd.solve(rows[0], rows[1], ground, lam=10).value
    assert settled(sheet) == pytest.approx(expected, rel=2e-5)
    assert sheet.complaints == []
    context.close()
