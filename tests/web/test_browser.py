"""The whole way through a review in a real browser: by mouse, by keyboard alone, on a phone, two at a time."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NASTY = "<script>alert(1)</script>"
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
]
SECONDS = 1000.0
TRAINING = 120 * SECONDS

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("needs a browser: no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any, served: Any) -> Iterator[OpenPage]:
    """Opens the review as somebody with a browser of their own; a dialog or a complaint fails the test."""
    complaints: list[str] = []
    contexts = []

    def open_as(name: str, **options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        context.set_default_timeout(30 * SECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.goto(served.door.address)
        page.wait_for_selector("input[name=reviewer]:focus")
        assert "token" not in page.url  # the address is clean
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_selector("#start")
        page.wait_for_load_state()  # now keys work too
        return page

    yield open_as
    for context in contexts:
        context.close()
    assert complaints == []


def node_of(page: Any) -> int:
    return int(page.evaluate("document.body.dataset.node"))


def saved(page: Any) -> str:
    return str(page.locator("#notices").inner_text())


def click(page: Any, selector: str, **options: Any) -> None:
    with page.expect_navigation():
        page.click(selector, **options)


def press(page: Any, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)


def tab_to(page: Any, selector: str) -> None:
    """Goes on with Tab until the element has the focus, which must be seen."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert style == "solid"
            return
    pytest.fail(f"{selector} cannot be reached by Tab")


def exported(page: Any, download: Callable[[], None]) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        download()
    assert waiting.value.suggested_filename == "verdicts.csv"
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def test_a_review_by_mouse(served: Any, open_page: OpenPage) -> None:
    page, names = open_page("Ada"), served.review.own.class_names
    page.select_option("select[name=given]", "0")
    click(page, "form.filter button")
    click(page, "table.suspects tbody tr:first-child a")  # list → node
    first = node_of(page)
    click(page, "#accept")  # → verdict
    assert saved(page) == f"Saved: node n{first} is “{names[0]}”."
    second = node_of(page)
    assert second != first
    click(page, "#undo")  # → undo
    assert "taken back" in saved(page)
    assert node_of(page) == first
    click(page, ".classes button:nth-child(3)")
    assert node_of(page) == second
    click(page, "#skip")
    assert "was skipped" in saved(page)
    click(page, "#back")
    assert node_of(page) == second
    click(page, "#next")
    click(page, "svg a.node-link >> nth=0")  # into the neighbourhood
    rows = exported(page, lambda: page.click("#export"))  # → export
    assert [(row["node"], row["label"], row["trusted"], row["reviewer"]) for row in rows] == [
        (f"n{first}", names[2], "1", "Ada")
    ]
    click(page, "a[href='/training']")  # → retrain
    click(page, "#train")
    page.wait_for_selector("#see-moved", timeout=TRAINING)
    click(page, "#see-moved")
    assert page.locator("figure svg rect.after").count() == 20
    assert served.review.suspects.version == 2
    kinds = [row.kind for row in served.review.store.since(0)]
    assert kinds == ["accept", "undo", "choose", "skip"]


def test_a_review_by_keyboard_alone(served: Any, open_page: OpenPage) -> None:
    page, names = open_page("Ada"), served.review.own.class_names
    table = served.review.suspects.table
    press(page, "n")  # list → node
    first = node_of(page)
    press(page, "t" if table.given[0] != table.proposed[0] else "a")  # → verdict
    second = node_of(page)
    assert f"Saved: node n{first}" in saved(page)
    press(page, "u")  # → undo
    assert node_of(page) == first
    press(page, "3")  # another label
    assert saved(page) == f"Saved: node n{first} is “{names[2]}”."
    assert node_of(page) == second
    press(page, "ArrowRight")
    press(page, "ArrowLeft")
    assert node_of(page) == second
    press(page, "s")
    press(page, "b")
    assert node_of(page) == second
    page.keyboard.press("c")  # to the other labels, and the second of them by Tab
    tab_to(page, ".classes button:nth-child(2)")
    press(page, "Enter")
    assert f"is “{NASTY}”" in saved(page)
    page.keyboard.press("?")
    assert page.locator("#help").get_attribute("open") is not None
    press(page, "l")
    tab_to(page, "#export")
    rows = exported(page, lambda: page.keyboard.press("Enter"))  # → export
    assert {row["node"]: row["label"] for row in rows} == {f"n{first}": names[2], f"n{second}": NASTY}
    tab_to(page, "a[href='/training']")
    press(page, "Enter")
    tab_to(page, "#train")
    press(page, "Enter")  # → retrain
    page.wait_for_selector("#see-moved", timeout=TRAINING)
    tab_to(page, "#see-moved")
    press(page, "Enter")
    assert page.locator("h1").inner_text() == "How the scores moved"
    assert [row.kind for row in served.review.store.since(0)][1:] == ["undo", "choose", "skip", "choose"]


def test_keys_can_be_turned_off_and_leave_fields_alone(served: Any, open_page: OpenPage) -> None:
    page = open_page("Ada")
    page.fill("input[name=id]", "")
    page.locator("input[name=id]").press("n")
    assert page.input_value("input[name=id]") == "n"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.uncheck("#keys-on")
    page.reload()
    page.keyboard.press("n")
    page.wait_for_timeout(200)
    assert page.locator("#start").count() == 1
    assert served.review.store.since(0) == []


def test_two_people_see_each_other(served: Any, open_page: OpenPage) -> None:
    ada, bob = open_page("Ada"), open_page("Bob")
    click(ada, "#start")
    node = node_of(ada)
    bob.reload()
    assert "Ada is here" in bob.locator("table.suspects").inner_text()
    click(bob, "#start")
    assert node_of(bob) == node
    ada.wait_for_selector("#looking:has-text('Bob is looking at this node too.')")  # without loading anew
    click(bob, "#accept")
    ada.wait_for_selector(".notice.warning:has-text('Bob has just said')")
    ada.wait_for_selector("[data-count=done]:has-text('1')")
    ada.click(".classes button:nth-child(3)")
    ada.wait_for_selector(".notice.warning:has-text('Both are kept; yours counts.')")
    assert served.review.board.labels[node] == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it(open_page: OpenPage, scheme: str) -> None:
    phone = {"viewport": {"width": 400, "height": 800}, "is_mobile": True, "has_touch": True, "color_scheme": scheme}
    page = open_page("Ada", **phone)
    for path in ("/", "/node/0", "/node/1", "/training", "/moved", "/reviewer"):
        page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/", 3)[2] + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, shade[4:-1].split(","))) > 382) == (scheme == "light")
    page.go_back()
    page.go_back()
    small = page.evaluate(
        "[...document.querySelectorAll('main button, main a.button, main select')]"
        ".filter(e => e.offsetParent && e.getBoundingClientRect().height < 40).map(e => e.outerHTML)"
    )
    assert small == []  # a thumb hits them


def test_a_label_that_is_a_script_is_shown_and_not_run(served: Any, open_page: OpenPage) -> None:
    page = open_page(NASTY[:40])
    click(page, "#start")
    assert page.locator(".classes button:nth-child(2)").inner_text().startswith(NASTY)
    page.click(".classes button:nth-child(2)")
    page.wait_for_selector(".notice.saved")
    assert NASTY in saved(page)
    page.goto(page.url.partition("/node")[0] + "/?show=all")
    assert page.locator("header .who").inner_text() == NASTY[:40]
    assert page.evaluate("document.scripts.length") == 1
