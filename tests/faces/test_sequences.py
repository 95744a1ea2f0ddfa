"""What agents do with a server, call after call, with the SDK's client of every revision of the protocol and over both
transports. Real servers, real files: each sequence depends on what its calls before have answered or changed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult
from served import COMMAND as HTTP
from served import INITIALIZE, Served

from findling.faces.mcp.opening import read_results
from tests.sizes import size

REVISIONS = tuple(read_results())
"""All that are served, from the oldest to the newest."""

EVERY = [(transport, revision) for transport in ("stdio", "http") for revision in REVISIONS]
SERVED = size([EVERY[0], EVERY[-1]], EVERY)
"""In small: over stdio the oldest revision, over HTTP the newest."""

STDIO = [sys.executable, "-m", "findling", "serve"]

FILES = {
    "shop/basket.py": '''\
"""What somebody is about to buy."""


class Basket:
    """Lines of goods, and what they come to."""

    def add_line(self, goods, quantity):
        """Put goods into the basket."""
        self.lines.append((goods, quantity))

    def total_price(self):
        """The sum of all lines, discounts taken off."""
        return apply_discount(sum(goods.price * quantity for goods, quantity in self.lines))


def apply_discount(amount):
    """Take a tenth off what costs more than a hundred."""
    return amount * 0.9 if amount > 100 else amount
''',
    "shop/checkout.py": '''\
"""Paying for a basket."""

from shop.basket import Basket, apply_discount


def pay(basket, account):
    """Charge an account with the total price of a basket."""
    account.charge(basket.total_price())
''',
    "docs/discounts.md": "# Discounts\n\nWhat costs more than a hundred is a tenth cheaper.\n",
}


def write(root: Path, files: dict[str, str] = FILES) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a branch ``older``, where a discount is called a rebate."""
    root = tmp_path.resolve() / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "older")
    write(root, {path: text.replace("apply_discount", "apply_rebate") for path, text in FILES.items()})
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Rebates")
    git(root, "checkout", "-q", "-b", "main")
    write(root)
    git(root, "commit", "-q", "-a", "-m", "Discounts")
    return root


class Agent(NamedTuple):
    client: Client
    root: Path

    async def ask(self, tool: str, **given: Any) -> dict[str, Any]:
        """The facts of an answer that is none of an error."""
        result = await self.client.call_tool(tool, given)
        assert not result.is_error, result.content
        return facts(result)

    async def refused(self, tool: str, **given: Any) -> str:
        result = await self.client.call_tool(tool, given)
        assert result.is_error, result
        return text(result)


def text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def facts(result: CallToolResult) -> dict[str, Any]:
    if result.structured_content is not None:
        assert json.loads(text(result)) == result.structured_content
        return result.structured_content
    return {"text": text(result)}


def paths(found: dict[str, Any]) -> list[str]:
    return [place["path"] for place in found.get("results", found.get("symbols", []))]


# --- the sequences -----------------------------------------------------------------------------------------------


async def whole(agent: Agent, tool: str, **given: Any) -> dict[str, Any]:
    """The answer once it is of all files as they are now: until then each says that it is not."""
    for _ in range(200):
        found = await agent.ask(tool, **given)
        about = found.get("metadata", found)
        if (
            about.get("result_completeness", "complete") == "complete"
            and about.get("freshness_status", "fresh") == "fresh"
        ):
            break
        await asyncio.sleep(0.1)
    return found


async def looks_closer_at_each_step(agent: Agent) -> None:
    """Search, the outline of what was found, its file, every line with a name, and search again by that name."""
    found = await whole(agent, "search_code", query="how is the total price of a basket worked out")
    first = found["results"][0]
    assert first["path"] == "shop/basket.py"
    outline = await agent.ask("get_file_outline", path=first["path"])
    defined = [symbol["name"] for symbol in outline["symbols"]]
    assert defined == ["Basket", "apply_discount"]
    content = (await agent.ask("get_file", path=first["path"]))["text"]
    assert content == (agent.root / "shop/basket.py").read_text("utf-8")
    lines = await agent.ask("search_keyword", query=r"\bapply_discount\b")
    assert sorted((place["path"], place["line_start"]) for place in lines["results"]) == [
        ("shop/basket.py", 13),
        ("shop/basket.py", 16),
        ("shop/checkout.py", 3),
    ]
    again = await agent.ask("search_code", query="apply_discount")
    assert again["query_intent"] == "symbol"
    assert again["results"][0]["line_start"] == 16


async def follows_a_name(agent: Agent) -> None:
    """A definition with its uses, the file of a use, and only the lines around it."""
    found = await agent.ask("locate_symbol", name="total_price", include_references=True)
    definition, *uses = found["results"]
    assert (definition["path"], definition["kind"]) == ("shop/basket.py", "method")
    (use,) = [use for use in uses if use["kind"] == "reference"]
    around = await agent.ask("get_file", path=use["path"], start_line=use["line_start"], end_line=use["line_start"])
    assert "total_price()" in around["text"] and around["text"].count("\n") == 1
    inside = await agent.ask("list_defs_in_file", path=use["path"])
    assert [symbol["name"] for symbol in inside["symbols"]] == ["pay"]


async def reads_the_next_page(agent: Agent) -> None:
    seen: list[tuple[str, int]] = []
    given: dict[str, Any] = {"name": "a", "limit": 2}
    while True:
        found = await agent.ask("find_symbol", **given)
        seen += [(symbol["path"], symbol["line"]) for symbol in found["symbols"]]
        if "next_cursor" not in found:
            break
        given["cursor"] = found["next_cursor"]
    whole = await agent.ask("find_symbol", name="a", limit=500)
    assert seen == [(symbol["path"], symbol["line"]) for symbol in whole["symbols"]] and len(seen) > 4


async def mends_its_call(agent: Agent) -> None:
    """What is refused says how it is right; what is not there says what is near."""
    said = await agent.refused("search_code", query="basket", langage="python")
    assert "Did you mean `language`?" in said
    said = await agent.refused("search_code", query="basket", language="pyhton")
    assert "Did you mean python" in said
    said = await agent.refused("get_file_outline", path="shop/baskte.py")
    assert "Did you mean shop/basket.py?" in said
    absent = await agent.ask("search_code", query="apply_discuont")
    assert absent["nearest"][0]["name"] == "apply_discount"
    nowhere = await agent.ask("hybrid_search", query="basket", path="shpo/")
    assert nowhere["results"] == [] and "shop" in json.dumps(nowhere["notes"])


async def asks_the_documents(agent: Agent) -> None:
    """A question to the documents, then what is like the document that answered, then one that they do not answer."""
    found = await agent.ask("query_docs", query="what is cheaper than usual")
    assert found["sources"][0]["path"] == "docs/discounts.md"
    assert "a tenth cheaper" in found["answer"]
    similar = await agent.ask("find_similar", docPath=found["sources"][0]["path"])
    assert found["sources"][0]["path"] not in [each["docPath"] for each in similar["similar"]]
    unknown = await agent.ask("query_docs", query="how do I group users by their LDAP directory for more goods")
    assert unknown["meta"]["low_confidence"] and "do not seem to answer this" in unknown["answer"]


async def searches_while_files_change(agent: Agent) -> None:
    """Each answer that says so is of the files as they are when it is asked."""
    for turn in range(3):
        new = agent.root / "shop" / f"voucher_{turn}.py"
        new.write_text(f"def redeem_voucher_{turn}(code):\n    return code\n", encoding="utf-8")
        found = await whole(agent, "find_symbol", name=f"redeem_voucher_{turn}")
        assert paths(found) == [f"shop/voucher_{turn}.py"]
        new.write_text(f"\n\ndef redeem_voucher_{turn}(code):\n    return code\n", encoding="utf-8")
        found = await whole(agent, "search_code", query=f"redeem_voucher_{turn}")
        assert found["results"][0]["line_start"] == 3
        new.unlink()
        gone = await whole(agent, "search_code", query=f"redeem_voucher_{turn}")
        assert gone["results"] == [] and gone["absent"][0]["text"] == f"redeem_voucher_{turn}"
        assert new.name not in json.dumps(paths(await whole(agent, "search_keyword", query="redeem_voucher")))


async def asks_a_branch(agent: Agent) -> None:
    """What another branch has, beside what is checked out; the folder stays as it is."""
    there = await agent.ask("locate_symbol", name="apply_rebate", ref="older")
    assert paths(there) == ["shop/basket.py"] and there["metadata"]["ref"] == "older"
    here = await agent.ask("locate_symbol", name="apply_rebate")
    assert here["results"] == [] and here["metadata"]["ref"] == "main"
    lines = await agent.ask("search_keyword", query="apply_rebate", ref="older")
    assert lines["total_files"] == 2
    said = await agent.refused("search_code", query="rebate", ref="oldre")
    assert "oldre" in said
    assert not (await agent.ask("search_keyword", query="apply_rebate"))["results"]


async def waits_for_an_index_that_it_asked_for(agent: Agent) -> None:
    """A job is begun, watched to its end, and in the list of those that were."""
    job = await agent.ask("index_repo", force=True)
    assert job["status"] == "running"
    for _ in range(600):
        status = await agent.ask("index_status")
        if status["active_job"] is None:
            break
        await asyncio.sleep(0.05)
    mine = next(each for each in status["recent_jobs"] if each["job_id"] == job["job_id"])
    assert mine["status"] == "published"
    assert status["file_count"] == len(FILES)
    assert (await agent.ask("health_check"))["status"] == "ready"


async def asks_many_things_at_once(agent: Agent) -> None:
    names = ("Basket", "add_line", "total_price", "apply_discount", "pay")
    calls = [agent.ask("find_symbol", name=name) for name in names for _ in range(4)]
    answers = await asyncio.gather(*calls)
    assert [found["symbols"][0]["name"] for found in answers] == [name for name in names for _ in range(4)]


async def gives_up_on_a_call(agent: Agent) -> None:
    """A call that nobody waits for any more does not keep the next ones from being answered."""
    for number in range(150):
        body = "\n\n".join(f"def part_{number}_{at}(x):\n    return x + {at}" for at in range(40))
        (agent.root / "shop" / f"generated_{number}.py").write_text(body, encoding="utf-8")
    told: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(done)

    waited = asyncio.create_task(
        agent.client.call_tool(
            "search_code", {"query": "part", "freshness_policy": "strict"}, progress_callback=progress
        )
    )
    await asyncio.sleep(0.3)
    waited.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waited
    assert told == sorted(told)
    assert paths(await agent.ask("find_symbol", name="apply_discount"))[0] == "shop/basket.py"
    for number in range(150):
        (agent.root / "shop" / f"generated_{number}.py").unlink()


SEQUENCES: tuple[Callable[[Agent], Awaitable[None]], ...] = (
    looks_closer_at_each_step,
    follows_a_name,
    reads_the_next_page,
    mends_its_call,
    asks_the_documents,
    searches_while_files_change,
    asks_a_branch,
    waits_for_an_index_that_it_asked_for,
    asks_many_things_at_once,
    gives_up_on_a_call,
)


@asynccontextmanager
async def connected(server: StdioServerParameters | str, revision: str) -> AsyncIterator[Client]:
    """The SDK's client as it was when this revision was its newest."""
    greets = "initialize" in read_results()[revision]
    with pytest.MonkeyPatch.context() as patch:
        if greets:
            patch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", revision)
        async with Client(server, mode="legacy" if greets else revision) as client:
            assert client.protocol_version == revision
            yield client


def over_stdio(*roots: Path) -> StdioServerParameters:
    arguments = [argument for root in roots for argument in ("--root", str(root))]
    return StdioServerParameters(command=STDIO[0], args=[*STDIO[1:], *arguments], env=dict(os.environ))


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FINDLING_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield


@pytest.mark.parametrize(("transport", "revision"), SERVED)
def test_sequences_of_agents(transport: str, revision: str, shop: Path, run: Callable[..., Served]) -> None:
    async def play() -> dict[str, str]:
        server = over_stdio(shop) if transport == "stdio" else run([*HTTP, "--root", str(shop)]).url
        failed: dict[str, str] = {}
        async with connected(server, revision) as client:
            for sequence in SEQUENCES:
                try:
                    await sequence(Agent(client, shop))
                except (AssertionError, LookupError, MCPError) as error:
                    failed[sequence.__name__] = repr(error)[:2_000]
        return failed

    assert not asyncio.run(play())


@pytest.mark.parametrize("revision", [REVISIONS[0], REVISIONS[-1]])
def test_two_roots_are_asked_as_one(revision: str, tmp_path: Path) -> None:
    """A question to both, a file of one by its whole path, and a path without a root's name."""
    one, two = (write(tmp_path.resolve() / name) for name in ("one", "two"))
    (two / "shop" / "checkout.py").write_text("def pay_later(basket):\n    return basket\n", encoding="utf-8")

    async def play() -> None:
        async with connected(over_stdio(one, two), revision) as client:
            agent = Agent(client, tmp_path)
            both = await whole(agent, "find_symbol", name="apply_discount")
            assert paths(both) == ["one/shop/basket.py", "two/shop/basket.py"]
            assert paths(await agent.ask("find_symbol", name="pay_later")) == ["two/shop/checkout.py"]
            outline = await agent.ask("get_file_outline", path="two/shop/checkout.py")
            assert [symbol["name"] for symbol in outline["symbols"]] == ["pay_later"]
            assert "one" in await agent.refused("get_file_outline", path="shop/checkout.py")
            (one / "shop" / "checkout.py").unlink()
            assert paths(await whole(agent, "find_symbol", name="pay")) == ["two/shop/checkout.py"]

    asyncio.run(play())


def test_a_client_over_stdio_that_dies_leaves_nothing_behind(shop: Path) -> None:
    """In the middle of a call; the server ends, and the next one answers from a sound index."""
    process = subprocess.Popen([*STDIO, "--root", str(shop)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    call = {"name": "search_code", "arguments": {"query": "basket"}}
    for message in (
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.stdin.close()
    process.stdout.close()
    assert process.wait(60) is not None

    async def play() -> None:
        async with connected(over_stdio(shop), REVISIONS[-1]) as client:
            await looks_closer_at_each_step(Agent(client, shop))

    asyncio.run(play())


def test_a_client_over_http_that_dies_leaves_the_others_alone(shop: Path, run: Callable[..., Served]) -> None:
    served = run([*HTTP, "--root", str(shop)])
    code = f"""
import asyncio, sys
from mcp import Client
async def main():
    async with Client({served.url!r}, mode="legacy") as client:
        print("connected", flush=True)
        while True:
            await client.call_tool("search_code", {{"query": "basket"}})
asyncio.run(main())
"""
    dying = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert dying.stdout is not None and dying.stdout.readline() == b"connected\n"
    dying.send_signal(signal.SIGKILL)
    dying.wait()

    async def play() -> None:
        async with connected(served.url, REVISIONS[-2]) as client:
            await looks_closer_at_each_step(Agent(client, shop))

    asyncio.run(play())
    assert served.end(signal.SIGTERM) == 0


def test_a_client_of_a_revision_that_nobody_knows_is_offered_one_that_is(
    shop: Path, run: Callable[..., Served]
) -> None:
    served = run([*HTTP, "--root", str(shop)])
    params = {**INITIALIZE["params"], "protocolVersion": "1999-01-01"}
    answer = served.send({**INITIALIZE, "params": params})
    assert answer.status == 200
    assert answer.message["result"]["protocolVersion"] in REVISIONS
