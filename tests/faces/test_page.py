"""The page, asked without a browser: who is let in, what each address shows, and that no file's text becomes HTML."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from findling import contracts
from findling.engine import Engine
from findling.faces.http import HttpOptions
from findling.faces.web import highlighting
from findling.faces.web.asking import Asker
from findling.faces.web.highlighting import highlighted, visible
from findling.faces.web.pages import MOST_CHARS
from findling.faces.web.serving import make_app
from findling.faces.web.visitors import POLICY
from findling.model.errors import Cancelled
from findling.model.types import Progress

HERE = "http://127.0.0.1:8730"
TOKEN = "a-token-that-nobody-guesses"
HOSTILE = '"><img src=x onerror=alert(1)>'

FILES = {
    "kitchen/kettle.py": '''"""Boiling water."""


class Kettle:
    """Holds water."""

    def boil(self, litres: float) -> float:
        """Heat water until it boils; the seconds it takes."""
        check_level(litres)
        return litres * 240


def check_level(litres: float) -> None:
    if litres > 2:
        raise ValueError("The kettle overflows")
''',
    "kitchen/tea.py": """from kitchen.kettle import Kettle, check_level


def make_tea(cups: int) -> float:
    check_level(cups / 4)
    return Kettle().boil(cups / 4)
""",
    "tests/test_tea.py": "from kitchen.tea import make_tea\n\n\ndef test_tea():\n    assert make_tea(2) > 0\n",
    "docs/tea.md": "# Tea\n\nWater for tea is boiled in the kettle. A cup takes a quarter of a litre.\n",
    "docs/<script>alert(2)<script>.md": f"# <b>Bold</b> {HOSTILE}\n\n[x](javascript:alert(3))\n",
    "kitchen/hostile.py": f"def hostile_kettle():\n    return '</pre><script>boil</script>{HOSTILE}'  # \u202eevil\n",
    "kitchen/__init__.py": "",
    "kitchen/two\nlines.py": "def descale():\n    pass\n",
    "kitchen/secret.env": "KEY=1\n",
    "kitchen/picture.png": "\x89PNG\r\n\x1a\n\x00\x00",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1" if name.endswith("png") else "utf-8"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    subprocess.run([*git[:-2], "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "y"], check=True)
    subprocess.run([*git, "tag", "v2"], check=True)
    with Engine.open(root=folder) as engine:
        engine.index()
    return folder


@pytest.fixture(scope="module")
def asker(root: Path) -> Iterator[Asker]:
    asker = Asker(contracts.Workspace(root=root))
    yield asker
    asyncio.run(asker.close())
    highlighting.end()


@pytest.fixture(scope="module")
def app(asker: Asker) -> Any:
    return make_app(asker, HttpOptions("127.0.0.1", 8730), token=TOKEN, name="<kitchen>")


@pytest.fixture(scope="module")
def page(app: Any) -> TestClient:
    client = TestClient(app, base_url=HERE)
    assert client.get("/", params={"token": TOKEN}).status_code == 200
    return client


# --- who is let in ---------------------------------------------------------------------------------------------------


def test_the_link_lets_a_browser_in_and_the_token_leaves_the_address(app: Any) -> None:
    client = TestClient(app, base_url=HERE)
    assert client.get("/").status_code == 403
    assert client.get("/", params={"token": f"{TOKEN}x"}).status_code == 403
    welcome = client.get("/", params={"token": TOKEN, "q": '"a&b'})
    assert re.search(r"findling-8730=[\w-]{32}; Path=/; HttpOnly; SameSite=Strict$", welcome.headers["set-cookie"])
    assert TOKEN not in welcome.text and "url=/?q=%22a%26b" in welcome.text
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "foreign", ['prefs={"a":1}', "a=b c", "my[x]=1", "abc", "", "n=\xe9", "findling-8730=old", 'q="a; b=c', "=;=;"]
)
def test_cookies_of_other_servers_lock_nobody_out(page: TestClient, app: Any, foreign: str) -> None:
    own = f"findling-8730={page.cookies['findling-8730']}"
    stranger = TestClient(app, base_url=HERE)
    for cookies, status in ((f"{foreign}; {own}", 200), (f"{own};{foreign}", 200), (f"{foreign}; x{own}", 403)):
        assert stranger.get("/", headers=[(b"cookie", cookies.encode("latin-1"))]).status_code == status, cookies


def test_only_this_address_is_served_and_only_to_its_own_page(page: TestClient) -> None:
    assert page.get("/", headers={"host": "evil.example"}).status_code == 421
    for foreign in ("https://evil.example", "http://localhost:3000", "null"):
        assert page.get("/", headers={"origin": foreign}).status_code == 403
    assert page.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}).status_code == 403
    assert page.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}).status_code == 200
    assert page.post("/index/stop").status_code == 403
    assert page.post("/index/stop", headers={"origin": HERE}, follow_redirects=False).status_code == 303


def test_each_answer_forbids_what_the_page_does_not_need(page: TestClient) -> None:
    for path in ("/", "/?q=kettle", "/static/page.css", "/nowhere", "/file/../../etc/passwd"):
        headers = page.get(path).headers
        assert headers["content-security-policy"] == POLICY and POLICY.startswith("default-src 'none'; ")
        assert "unsafe" not in POLICY and headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"


# --- what stands on a page -------------------------------------------------------------------------------------------


class Seen(HTMLParser):
    """The elements of a page as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self, begins: str) -> list[str]:
        return [each["href"] for tag, each in self.elements if tag == "a" and each.get("href", "").startswith(begins)]


def seen(page: TestClient, address: str, status: int = 200, **headers: str) -> Seen:
    answer = page.get(address, headers=headers)
    assert answer.status_code == status, answer.text
    return Seen(answer.text)


PAGES = (
    "/",
    "/?q=kettle+boil",
    "/?q=hostile_kettle+alert",
    "/?q=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E",
    "/?q=kettle&folder=%22%3E%3Cscript%3E&lang=%3Cb%3E&ref=%3Cb%3E",
    "/grep?p=%3C",
    "/grep?p=(%3Cb%3E",
    "/file/kitchen/hostile.py?lines=1-2",
    "/file/docs/%3Cscript%3Ealert(2)%3Cscript%3E.md",
    "/file/%3Cb%3E",
    "/symbol?name=hostile_kettle",
    "/symbol?name=%3Cb%3Ex%3C/b%3E",
    "/similar?path=docs/%3Cscript%3Ealert(2)%3Cscript%3E.md",
    "/index?why=%3Cb%3E",
    "/library?q=",
)


@pytest.mark.parametrize("address", PAGES)
def test_nothing_that_a_file_or_an_address_says_becomes_html(page: TestClient, address: str) -> None:
    found = Seen(page.get(address).text)
    for tag, attributes in found.elements:
        assert tag not in ("img", "iframe", "style", "object", "base", "b" if attributes else "img"), tag
        assert not any(name.startswith("on") or name == "style" for name in attributes), attributes
        for name in ("href", "src", "action", "hx-get"):
            value = attributes.get(name, "/")
            assert value.startswith(("/", "#")) and not value.startswith("//"), value
        if tag == "script":
            assert attributes["src"].startswith("/static/")
    assert "\u202e" not in found.text
    assert "<kitchen>" in found.text  # the folder's name, as text


def test_a_search_shows_groups_and_the_lines_that_matter_how_sure_it_is_and_why(page: TestClient) -> None:
    found = seen(page, "/?q=how+is+water+boiled")
    assert {"group-code", "group-docs"} <= {each.get("id") for _, each in found.elements}
    assert re.search(r"(Sure|Fairly sure|Unsure) \(\d+%\)", found.text)
    assert "as the files are now" in found.text and "files match" in found.text
    assert found.links("/file/kitchen/kettle.py?lines=")
    assert any(tag == "mark" for tag, _ in found.elements)
    assert any(each.get("class") == "l hot" for _, each in found.elements)
    bars = [each for tag, each in found.elements if tag == "rect" and each.get("class") == "bar"]
    assert bars and max(float(bar["width"]) for bar in bars) == 120.0
    assert "the query" in found.text  # a reason in words


def test_a_key_press_brings_the_answer_alone_and_the_address_follows(page: TestClient) -> None:
    typed = page.get("/?q=kettle&kind=code&lang=&folder=&ref=", headers={"hx-request": "true"})
    assert typed.text.lstrip().startswith('<div id="results">') and "<form" not in typed.text
    assert typed.headers["hx-replace-url"] == "/?q=kettle&kind=code" and "hx-push-url" not in typed.headers
    step = page.get("/?q=kettle", headers={"hx-request": "true", "x-findling-step": "first"})
    assert step.headers["hx-push-url"] == "/?q=kettle"
    assert page.get("/?q=kettle&lang=", follow_redirects=False).headers["location"] == "/?q=kettle"
    form = seen(page, "/?q=kettle&kind=docs&lang=markdown&folder=docs&ref=v1")
    chosen = [each.get("value", "") for tag, each in form.elements if tag == "option" and "selected" in each]
    values = {each.get("name"): each.get("value") for tag, each in form.elements if tag == "input"}
    assert "docs" in chosen and (values["q"], values["folder"], values["ref"]) == ("kettle", "docs", "v1")


@pytest.mark.parametrize(
    ("filters", "files"),
    [
        ("kind=docs", {"docs/tea.md"}),
        ("folder=kitchen&lang=python", {"kitchen/kettle.py", "kitchen/tea.py"}),
        ("kind=tests", {"tests/test_tea.py"}),
    ],
)
def test_filters_narrow_the_answer(page: TestClient, filters: str, files: set[str]) -> None:
    links = [link for link in seen(page, f"/?q=make+tea+boil&{filters}").links("/file/") if "lines=" in link]
    assert files & {urlsplit(link).path.removeprefix("/file/") for link in links}
    wanted = (lambda path: path.endswith(".md")) if "docs" in filters else (lambda path: path.endswith(".py"))
    assert all(wanted(urlsplit(link).path) for link in links)


def test_what_does_not_occur_is_said(page: TestClient) -> None:
    assert "'percolate_beans' does not occur" in seen(page, "/?q=percolate_beans").text
    near = seen(page, "/?q=chek_levle")
    assert "does not occur" in near.text and near.links("/file/kitchen/kettle.py?lines=13-13")


def test_a_file_is_shown_in_full_with_its_outline(page: TestClient) -> None:
    found = seen(page, "/file/kitchen/kettle.py?lines=7-10")
    ids = {each["id"] for _, each in found.elements if each.get("id", "").startswith("L")}
    assert ids == {f"L{number}" for number in range(1, 16)}
    assert {"#L4", "#L7", "#L13"} <= set(found.links("#L"))
    assert "raise ValueError" in found.text
    assert sum(each.get("class") == "l hot" for _, each in found.elements) == 4
    assert "check_level" in seen(page, "/file/kitchen/kettle.py?ref=v1").text


@pytest.mark.parametrize("headers", [{}, {"hx-request": "true"}])
def test_an_empty_file_is_a_place_without_lines(page: TestClient, headers: dict[str, str]) -> None:
    found = seen(page, "/?q=kitchen/__init__.py", **headers)
    assert any(urlsplit(link).path == "/file/kitchen/__init__.py" for link in found.links("/file/"))


@pytest.mark.parametrize("ref", ["", "?ref=v1"])
def test_an_empty_file_has_no_lines(page: TestClient, ref: str) -> None:
    found = seen(page, f"/file/kitchen/__init__.py{ref}")
    assert "0 lines" in found.text and all(each.get("id") != "L1" for _, each in found.elements)


def test_a_file_whose_name_has_a_line_feed_is_shown_where_its_folder_links_to(page: TestClient) -> None:
    (link,) = [link for link in seen(page, "/file/kitchen/").links("/file/") if "lines.py" in link]
    assert link == "/file/kitchen/two%0Alines.py"
    assert "descale" in seen(page, link).text


def test_a_folder_lists_what_is_indexed_in_it(page: TestClient) -> None:
    assert {"/file/kitchen/", "/file/docs/"} <= set(seen(page, "/file/").links("/file/"))
    seen(page, "/?q=kettle&ref=v1")  # a question about a ref indexes it
    found = seen(page, "/file/kitchen/?ref=v1")
    assert "/file/kitchen/kettle.py?ref=v1" in found.links("/file/kitchen/")
    assert "/?folder=kitchen&ref=v1" in found.links("/?folder")


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/file/kitchen/nothing.py", 404, "file not found"),
        ("/file/%00", 404, "file not found"),
        ("/file/kitchen/a%00b.pdf", 404, "file not found"),
        ("/file/..%2f..%2fetc/passwd", 400, "outside of the root"),
        ("/file/kitchen/secret.env", 400, "not handed out"),
        ("/file/.git/config", 400, "version control"),
        ("/?q=kettle&ref=no-such-branch", 404, "no branch, tag or commit"),
        ("/?q=kettle&lang=klingon", 400, "klingon"),
        ("/nowhere", 404, "There is no such page"),
    ],
)
def test_what_cannot_be_shown_is_told(page: TestClient, address: str, status: int, said: str) -> None:
    assert said in seen(page, address, status).text


def test_a_definition_stands_between_its_callers_and_its_callees_each_a_step(page: TestClient) -> None:
    found = seen(page, "/symbol?name=check_level&path=kitchen/kettle.py")
    steps = {parse_qs(urlsplit(link).query)["name"][0] for link in found.links("/symbol?")}
    assert {"Kettle.boil", "make_tea"} <= steps
    assert any(each.get("class") == "step certain" for tag, each in found.elements if tag == "li")
    out = seen(page, "/symbol?name=make_tea&path=kitchen/tea.py")
    assert "1 use in tests" in out.text and "check_level" in out.text
    tests = next(link for link in out.links("/symbol?") if "tests=1" in link)
    assert "test_tea" in seen(page, tests).text
    for link in (*found.links("/symbol?"), *found.links("/file/"), *out.links("/similar?")):
        seen(page, link)


def test_a_name_that_nothing_has_leads_to_the_nearest(page: TestClient) -> None:
    found = seen(page, "/symbol?name=check_lev")
    assert "No definition has this name" in found.text and found.links("/symbol?name=check_level")


def test_grep_counts_every_occurrence(page: TestClient) -> None:
    found = seen(page, "/grep?p=check_.*l%5Cb")
    assert "4 occurrences" in found.text and "4 lines in 2 files" in found.text
    assert len(found.links("/file/kitchen/kettle.py?lines=")) == 2
    assert "Nothing found" in seen(page, "/grep?p=check_.*l&text=1").text
    told = seen(page, "/grep?p=(", 400, **{"hx-request": "true"})
    assert told.elements[0] == ("div", {"id": "results"}) and "(" in told.text


def test_the_index_says_what_is_left_out_and_why(page: TestClient) -> None:
    found = seen(page, "/index")
    assert {"secret", "binary"} <= {
        link.partition("reason=")[2].partition("#")[0] for link in found.links("/index?reason")
    }
    assert "kitchen/secret.env" in found.text
    assert "kitchen/picture.png" not in seen(page, "/index?reason=secret").text
    assert "not indexed" in seen(page, "/index?why=kitchen/picture.png").text
    assert "indexed" in seen(page, "/index?why=docs").text


def test_a_run_shows_how_far_it_is(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page.get("/progress").text.strip() == ""
    began, go_on = threading.Event(), threading.Event()
    index = Engine.index

    def slowly(self: Engine, **options: Any) -> Any:
        options["progress"](Progress("indexing", 3, 8))
        began.set()
        assert go_on.wait(30)
        return index(self, **options)

    monkeypatch.setattr(Engine, "index", slowly)
    assert page.post("/index/update", headers={"origin": HERE}).status_code == 200
    assert began.wait(30)
    found = seen(page, "/progress")
    assert "indexing 3 of 8" in found.text and ("progress", {"max": "8", "value": "3", "aria-label": "Indexing"}) in (
        found.elements
    )
    go_on.set()


def test_the_command_prints_a_link_and_ends_well(root: Path) -> None:
    command = [sys.executable, "-m", "findling", "ui", str(root), "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        link = server.stdout.readline().strip()
        taken = [*command[:-1], str(urlsplit(link).port)]
        refused = subprocess.run(taken, capture_output=True, text=True, timeout=60)
        assert (refused.returncode, "Choose another port" in refused.stderr) == (2, True)
        browser = build_opener(HTTPCookieProcessor())
        browser.open(link, timeout=60)
        assert b"kettle.py" in browser.open(link.replace(urlsplit(link).query, "q=kettle"), timeout=60).read()
        longest = urlencode({"q": "kettle " + "\N{HOT BEVERAGE}" * (MOST_CHARS - 7)})
        assert b"kettle.py" in browser.open(link.replace(urlsplit(link).query, longest), timeout=60).read()
        server.send_signal(signal.SIGINT)
        assert (server.wait(60), "Traceback" in server.stderr.read()) == (0, False)  # type: ignore[union-attr]


# --- questions that nobody waits for ---------------------------------------------------------------------------------


def test_a_question_whose_browser_has_gone_is_dropped_or_ended(asker: Asker) -> None:
    here, ended, asked = threading.Event(), threading.Event(), []

    def long(_: Any, progress: Any) -> None:
        here.set()
        try:
            while not ended.wait(0.005):
                progress(Progress("answering", 0, 0))
        except Cancelled:
            ended.set()
            raise

    async def both() -> list[Any]:
        dropped = asyncio.Event()

        async def leave() -> dict[str, str]:
            await asyncio.to_thread(here.wait)
            return {"type": "http.disconnect"}

        async def leave_later() -> dict[str, str]:
            await dropped.wait()
            return {"type": "http.disconnect"}

        async def wait() -> None:
            try:
                await asker.ask(Request({"type": "http"}, leave), lambda *_: asked.append("in vain"))
            finally:
                dropped.set()

        first = asker.ask(Request({"type": "http"}, leave_later), long)
        return await asyncio.gather(first, wait(), return_exceptions=True)

    assert [type(each) for each in asyncio.run(both())] == [Cancelled, Cancelled]
    assert ended.wait(30) and asked == []


# --- colours ---------------------------------------------------------------------------------------------------------


def test_colours_and_marks_keep_every_character() -> None:
    lines = ["def f(a):  # <b>", '    return "a" * 2', "\tx = '''y", "z''' & 1"]
    html = highlighted(lines, "python", "a.py", {0: [(2, 7), (9, 13)], 3: [(0, 8)]})
    assert [Seen(str(line)).text for line in html] == lines
    assert (
        re.sub(r"</?i[^>]*>", "", html[0]).replace("</mark><mark>", "")
        == "de<mark>f f(a</mark>):<mark>  # </mark>&lt;b&gt;"
    )
    assert highlighted(["x" * 5000], "python", "a.py") == ["x" * 5000]
    assert visible("a\u202eb\x1b") == "a⟦U+202E⟧b␛"


def test_a_text_that_takes_for_ever_or_breaks_the_lexer_is_shown_without_colours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import re, time\nfrom pygments.lexers import PythonLexer\n"
        "tokens = PythonLexer.get_tokens_unprocessed\n"
        "def odd(self, text, *rest):\n"
        "    re.match('(a+)+$', 'a' * 40 + 'b') if 'endless' in text else None\n"
        "    1 / ('broken' not in text)\n"
        "    return tokens(self, text, *rest)\n"
        "PythonLexer.get_tokens_unprocessed = odd\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(highlighting, "LEXING_S", 0.3)
    highlighting.end()
    for text in ("endless = 1", "broken = 1", "endless = 1"):
        assert highlighted([text], "python", "a.py") == [text]
    assert "<i" in highlighted(["def f(): pass"], "python", "a.py")[0]
    highlighting.end()


def test_a_folder_at_a_ref_that_is_not_indexed_says_what_to_do(page: TestClient) -> None:
    answer = page.get("/file/kitchen", params={"ref": "v2"})
    assert answer.status_code == 400
    assert "is not indexed yet" in answer.text and "findling index --ref v2" in answer.text


def test_a_folder_of_repositories_is_one_page(tmp_path: Path) -> None:
    texts = {
        "shop/till.py": "def add_up(prices):\n    return sum(prices)\n",
        "shop/sale.py": "from till import add_up\n\n\ndef sell(cart):\n    return add_up(cart)\n",
        "bank/loan.py": "def interest(loan):\n    return loan * 0.04\n",
        "plans.md": "# Plans\n\nThe till adds up the prices.\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("shop", "bank"):
        subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
        with Engine.open(root=tmp_path / name) as engine:
            engine.index()
    workspace = contracts.Workspace(tmp_path)
    client = TestClient(
        make_app(Asker(workspace), HttpOptions("127.0.0.1", 8730), token=TOKEN, name="both"), base_url=HERE
    )
    try:
        client.get("/", params={"token": TOKEN})

        def text(address: str, **given: str) -> str:
            answer = client.get(address, params=given)
            assert answer.status_code == 200, (address, given, answer.text)
            return answer.text

        assert "shop/till.py" in text("/", q="add_up").replace('<span class="dim">', "").replace("</span>", "")
        assert "add_up" in text("/file/shop/till.py") and "Plans" in text("/file/plans.md")
        assert "/file/shop/till.py" in text("/file/shop") and "shop/" in text("/file/")
        callers = text("/symbol", name="add_up", path="shop/till.py")
        assert "sell" in callers and "shop/sale.py" in callers
        assert "/file/bank/loan.py" in text("/grep", p="return", folder="bank")
        assert "/file/shop/" not in text("/grep", p="return", folder="bank")
        assert "/file/" in text("/similar", path="shop/till.py")
        index = text("/index", why="bank/loan.py")
        assert "bank/loan.py: indexed" in index and index.count("<dt>Files</dt>") == 3
        assert client.post("/index/update", headers={"origin": HERE}).status_code == 200
        assert text("/progress") is not None
    finally:
        workspace.close()
