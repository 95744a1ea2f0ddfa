"""A name typed alone: where it is defined comes first, whatever else speaks of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from findling import Engine
from findling.model.types import LOW_CONFIDENCE
from findling.search.analysis import name_alone

FILES = {
    "pkg/url.py": (
        "'''URLs: schemes are verified, and added where a URL has none.'''\n\n\n"
        "def verify_scheme(url):\n    '''Verify the scheme of a URL.'''\n    return url.scheme\n\n\n"
        "def add_scheme(url):\n    '''Add a scheme to a URL that is verified.'''\n    return verify_scheme(url)\n"
    ),
    "pkg/scheme.py": "from pkg.url import verify_scheme\n\n\ndef url_scheme(url):\n    return url\n",
    "docs/urls.md": "# URL schemes\n\nHow to verify the scheme of a URL: call `verify_url_scheme`.\n",
    "pkg/generate.py": (
        "import os\n\n\ndef sanitize(name):\n    return name.replace('-', '_')\n\n\n"
        "def verify_url_scheme(text):\n    return text or 'https'\n\n\n"
        "class HTTPServerErrors(Exception):\n    pass\n\n\ndef run(options):\n    return os.path.join(*options)\n"
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("alone")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root=root) as engine:
        engine.index()
        yield engine


@pytest.mark.parametrize("name", ["verify_url_scheme", "verifyUrlScheme", "verifyurlscheme"])
@pytest.mark.parametrize("mode", ["auto", "hybrid"])
def test_it_leads_to_the_definition(name: str, mode: str, engine: Engine) -> None:
    first = engine.search(name, mode=mode).hits[0]
    assert (first.path, first.name) == ("pkg/generate.py", "verify_url_scheme")


@pytest.mark.parametrize("mode", ["auto", "keyword"])
def test_in_one_lower_case_word_it_is_found_although_the_ending_of_words_is_cut(mode: str, engine: Engine) -> None:
    found = engine.search("httpservererrors", mode=mode)
    assert [hit.path for hit in found.hits][:1] == ["pkg/generate.py"]
    assert found.confidence >= LOW_CONFIDENCE


def test_a_plain_word_is_still_a_subject(engine: Engine) -> None:
    assert engine.search("scheme").hits[0].path != "pkg/generate.py"


def test_what_is_shown_adds_up(engine: Engine) -> None:
    for hit in engine.search("httpservererrors", explain=True).hits:
        assert sum(reason.value for reason in hit.reasons) == pytest.approx(hit.rank_value)


CRAWLERS = {
    "pkg/utils/spider.py": (
        "'''Spiders: what runs a spider.'''\n\n\ndef iter_spider(spider):\n    '''Each spider of a spider.'''\n"
        "    return spider.spiders\n\n\ndef spider_of(spider):\n    return spider\n"
    ),
    "pkg/spiders/__init__.py": (
        "'''The base.'''\n\nimport os\n\n\ndef spider_name(spider):\n    '''The spider of a spider.'''\n"
        "    return spider.spider\n\n\nclass Spider:\n    name = None\n\n    def parse(self, response):\n"
        "        return response\n"
    ),
    "pkg/commands/parse.py": "def parse_spider(parse):\n    '''Parse what a spider is to parse.'''\n    return parse\n",
    "pkg/app.py": "class Crawlers:\n    def include(self, other):\n        return other\n",
    "pkg/include.py": (
        "class CrawlersRouter:\n    def include(self, other):\n        '''Crawlers.'''\n        return other\n"
    ),
}


@pytest.fixture(scope="module")
def crawlers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("named") / "crawlers"
    for path, text in CRAWLERS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root=root) as engine:
        engine.index()
        yield engine


@pytest.mark.parametrize("query", ["Spider", "class Spider", "pkg.spiders.Spider", "crawlers.Spider"])
def test_a_class_of_one_word_is_no_subject(query: str, crawlers: Engine) -> None:
    first = crawlers.search(query).hits[0]
    assert (first.path, first.name) == ("pkg/spiders/__init__.py", "Spider")


@pytest.mark.parametrize("query", ["Spider.parse", "Spider::parse", "Spider.parse()"])
def test_a_plain_word_in_a_class_is_that_one(query: str, crawlers: Engine) -> None:
    first = crawlers.search(query).hits[0]
    assert (first.path, first.name) == ("pkg/spiders/__init__.py", "parse")


def test_a_definition_is_asked_as_it_is_written(crawlers: Engine) -> None:
    assert crawlers.search("def iter_spider").hits[0].name == "iter_spider"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Parser", "Parser"),
        (" struct window ", "window"),
        ("fn parse()", "parse"),
        ("interface Shape", "Shape"),
        ("class methods", ""),
        ("class of Parsers", ""),
        ("type hints", ""),
        ("", ""),
    ],
)
def test_what_is_a_name_and_nothing_else(text: str, name: str) -> None:
    assert name_alone(text) == name


def test_a_class_may_be_called_as_the_folder(crawlers: Engine) -> None:
    assert crawlers.search("Crawlers.include").hits[0].path == "pkg/app.py"


@pytest.mark.parametrize("line", ["def url_scheme(", "def url_scheme(url):", "show me def url_scheme(url) please"])
def test_the_first_line_of_a_definition_leads_to_it_and_not_to_one_of_nearly_that_name(
    line: str, tmp_path: Path
) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    told = (
        "def _url_scheme(url):\n    '''The URL scheme: url scheme of a URL, verified.'''\n    return url_scheme(url)\n"
    )
    (tmp_path / "pkg/told.py").write_text(told * 3)
    with Engine.open(root=tmp_path) as other:
        first = other.search(line, wait_s=None).hits[0]
    assert (first.path, first.name) == ("pkg/scheme.py", "url_scheme")
