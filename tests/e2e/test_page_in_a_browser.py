"""The page in a real browser: typing, keys, history, and axe's rules for WCAG AA in light, in dark and on a phone.

The pictures of the README are made here, into the folder that FINDLING_PICTURES names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.e2e

SOURCES = Path(__file__).parents[2] / "src"

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

PAGES = {
    "start": "/",
    "answer": "/?q=where+do+we+retry+failed+requests",
    "unsure": "/?q=the+colour+of+yesterday%27s+weather",
    "absent": "/?q=percolate_beans_twice",
    "file": "/file/findling/config/roots.py?lines=79-101#L79",
    "symbol": "/symbol?name=find_root&path=findling/config/roots.py",
    "many": "/symbol?name=open",
    "no symbol": "/symbol?name=find_rooot",
    "similar": "/similar?path=findling/config/roots.py&line=81",
    "grep": "/grep?p=find_root",
    "grep fails": "/grep?p=(",
    "library": "/library",
    "index": "/index?why=findling/config/roots.py",
    "nowhere": "/nowhere",
}

MOST_BYTES = 150_000
"""Of a picture in the README."""

SCREENS = {"light": (1280, 860), "dark": (1280, 860), "phone": (390, 844)}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    found = os.environ.get("FINDLING_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        pytest.fail("There is no browser: apt-get install chromium, or name one in FINDLING_CHROMIUM.", pytrace=False)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--disable-lcd-text"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The link that `findling ui` prints, of findling's own sources."""
    folder = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "FINDLING_DATA_DIR": str(folder / "data")}
    at = ["--root", str(SOURCES), "--cache"]
    program = [sys.executable, "-m", "findling"]
    subprocess.run([*program, "index", *at], env=environment, check=True, capture_output=True, timeout=300)
    with subprocess.Popen(
        [*program, "ui", *at, "--no-open", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
        assert server.wait(30) == 0


@pytest.fixture(params=list(SCREENS))
def screen(request: pytest.FixtureRequest, chromium: Any, link: str) -> Iterator[Any]:
    yield from opened(chromium, link, request.param)


@pytest.fixture
def page(chromium: Any, link: str) -> Iterator[Any]:
    yield from opened(chromium, link, "light")


def opened(chromium: Any, link: str, kind: str) -> Iterator[Any]:
    """A page that was let in. Nothing may ask elsewhere, or complain to the console."""
    width, height = SCREENS[kind]
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if kind == "dark" else "light"
    )
    page = context.new_page()
    base = "{0.scheme}://{0.netloc}".format(urlsplit(link))
    elsewhere: list[str] = []
    complaints: list[str] = []
    page.goto(link)
    page.wait_for_url(f"{base}/")
    page.on("request", lambda request: None if request.url.startswith(base) else elsewhere.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.base = base
    yield page
    context.close()
    assert elsewhere == []
    expected = ("status of 40", "htmx:sendAbort", "htmx:afterRequest")  # errors that a test asked for, ended requests
    assert [each for each in complaints if not any(text in each for text in expected)] == []


def test_every_page_passes_axe_and_fits_its_screen(screen: Any, programs: Path) -> None:
    axe = (programs.parent / "axe-core" / "axe.min.js").read_text("utf-8")
    problems = []
    for name, path in PAGES.items():
        screen.goto(f"{screen.base}{path}")
        for details in screen.query_selector_all("details.why summary")[:1]:
            details.click()
        screen.evaluate(f"{axe};0")
        found = screen.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
        problems += [
            (name, each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"])
            for each in found["violations"]
        ]
        if screen.evaluate("document.documentElement.scrollWidth > innerWidth"):
            problems.append((name, "wider than the screen", "", ""))
    assert problems == []


def test_typing_searches_and_the_address_follows(page: Any) -> None:
    page.type("#q", "find_root", delay=30)
    page.wait_for_url("**/?q=find_root")
    page.wait_for_selector("#results a.go:has-text('roots.py')")
    assert page.evaluate("document.activeElement.id") == "q"
    before = page.evaluate("history.length")
    page.type("#q", " may be gone", delay=30)
    page.wait_for_url("**/?q=find_root+may+be+gone")
    assert page.evaluate("history.length") == before  # one row of key presses is one step
    page.select_option("select[name=kind]", "docs")
    page.wait_for_url("**/?q=find_root+may+be+gone&kind=docs")
    page.reload()
    assert page.input_value("#q") == "find_root may be gone" and page.input_value("select[name=kind]") == "docs"


def test_a_question_is_ended_by_the_next(page: Any) -> None:
    held: list[Any] = []
    ended: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.route("**/?q=kettle*", lambda route: held.append(route))  # its answer never comes
    page.fill("#q", "kettle")
    page.wait_for_timeout(400)
    assert len(held) == 1
    page.fill("#q", "find_root")
    page.wait_for_selector("#results a.go:has-text('roots.py')")
    assert [parse_qs(urlsplit(url).query)["q"] for url in ended] == [["kettle"]]
    assert page.url.endswith("/?q=find_root")


def test_a_question_that_is_too_long_is_told_in_the_place_of_the_answer(page: Any) -> None:
    page.evaluate("q.value = 'kettle '.repeat(25000); q.dispatchEvent(new Event('input', {bubbles: true}))")
    page.wait_for_selector("#results:has-text('Invalid HTTP request')")
    page.evaluate("q.value = ''")
    page.keyboard.insert_text("kettle " * 2000)
    assert len(page.input_value("#q")) == 8000
    page.wait_for_selector("#results .verdict")
    page.fill("#q", "find_root")
    page.wait_for_selector("#results a.go:has-text('roots.py')")


def test_keys_alone_lead_from_a_question_to_its_callers_and_back(page: Any) -> None:
    page.goto(f"{page.base}/index")
    page.keyboard.press("/")
    page.wait_for_url(f"{page.base}/")
    page.wait_for_selector("#q:focus")
    page.keyboard.type("find_root")
    page.wait_for_selector("#results a.go:has-text('roots.py')")
    page.keyboard.press("ArrowDown")
    assert "roots.py" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("w")
    page.wait_for_selector("details.why[open] .bars")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1.path:has-text('findling/config/roots.py')")
    page.wait_for_selector(".hot")
    page.go_back()
    page.wait_for_selector("#results a.go")
    assert page.input_value("#q") == "find_root"
    page.goto(f"{page.base}/symbol?name=find_root&path=findling/config/roots.py")
    page.keyboard.press("j")
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"h1.path:has-text('{name}')")
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help:not([open])", state="attached")


def test_the_page_works_without_its_scripts(chromium: Any, link: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    page.wait_for_selector("#q")
    page.fill("#q", "find_root")
    page.press("#q", "Enter")
    page.click("#results a.go >> nth=0")
    page.wait_for_selector("h1.path:has-text('findling/config/roots.py')")
    context.close()


def test_a_page_elsewhere_cannot_read_the_answers(page: Any, chromium: Any) -> None:
    foreign = page.context.new_page()
    foreign.route("http://localhost:1/*", lambda route: route.fulfill(body="<p>x</p>", content_type="text/html"))
    foreign.goto("http://localhost:1/")
    asked = "url => fetch(url, {credentials: 'include'}).then(answer => answer.text(), () => 'refused')"
    assert foreign.evaluate(asked, f"{page.base}/?q=find_root") == "refused"
    without = "url => fetch(url, {mode: 'no-cors', credentials: 'include'}).then(a => a.type, () => 'refused')"
    assert foreign.evaluate(without, f"{page.base}/?q=find_root") == "refused"
    foreign.close()


def test_the_pictures_are_small(page: Any, chromium: Any, link: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("FINDLING_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page.set_viewport_size({"width": 1120, "height": 760})
    page.fill("#q", "which folder does the index of a linked work tree go to")
    page.wait_for_url("**work+tree+go+to")
    page.wait_for_selector("#results a.go")
    page.click("details.why summary >> nth=0")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("!document.querySelector('.progress').textContent.trim()")
    page.screenshot(path=folder / "search.png")
    for dark in opened(chromium, link, "dark"):
        dark.set_viewport_size({"width": 1120, "height": 560})
        dark.goto(f"{page.base}{PAGES['symbol']}")
        dark.screenshot(path=folder / "callers.png")
    for name in ("search.png", "callers.png"):
        assert 10_000 < (folder / name).stat().st_size <= MOST_BYTES
