"""`findling team`, which manages a shared store, and `findling worker`, which works for it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from findling import outbound
from findling.config import Root
from findling.config.roots import LIVE
from findling.engine import remote
from findling.engine.library.collections import data_directory, fetch_configuration
from findling.engine.library.fetching.fetch_requests import RepoRequest, check_branch, checked, repository_name
from findling.engine.remote.store import ALL_COLLECTIONS, said_of_milvus
from findling.engine.remote.users import gauges, open_team
from findling.engine.remote.working import Worker
from findling.faces.cli.outcome import ERROR, FOUND, NOTHING, Answer, Rows, status_of
from findling.faces.http.operating import Port
from findling.faces.http.options import host_and_port
from findling.model.errors import ConfigError, InvalidInput
from findling.model.text_encodings import is_text

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.engine.remote import Rights, Source, Team
    from findling.faces.cli.session import Session


_MOST_LINES: Final = 100_000
"""The longest list of repositories that one command takes."""

_MOST_CHARS: Final = 2_000
"""The longest name, address or path: a longer one does not fit into an index of the database."""


def team(args: Namespace, session: Session) -> int:
    """Run one action. Raises `InvalidInput` for an unknown action."""
    action = _ACTIONS.get(args.action)
    if action is None:
        raise InvalidInput(
            f"'findling team' has no action {args.action!r}.", remedy=f"The actions are {', '.join(_ACTIONS)}."
        )
    for word in args.subjects:
        _check_word(word)
    for option in ("every", "branch", "name", "ref"):
        if getattr(args, option) and args.action != "add" and (option, args.action) != ("ref", "remove"):
            raise InvalidInput(f"--{option} is for 'findling team add'.")
    reads = args.action in ("list", "status") or (args.action == "user" and args.subjects[:1] == ["list"])
    with _opened(migrate=not reads) as (opened, _):
        answer = action(opened, args)
    value = {"store": opened.database.url, **answer.value}
    session.show(Root(Path.cwd(), ""), lambda view: view.records(answer.blocks, value))
    return answer.status


@contextmanager
def _opened(*, migrate: bool = True) -> Iterator[tuple[Team, str]]:
    """The team's part of the store that is configured, and the store's address. ``migrate``: bring its schema up to
    date; else one that is not raises the store's errors."""
    url = fetch_configuration().store.url
    if url is None:
        raise ConfigError(
            "This command needs a shared store, and none is named.",
            remedy="Name it with --store, FINDLING_STORE or store.url in your own configuration.",
        )
    with open_team(url, migrate=migrate) as opened:
        yield opened, url


# --- what workers keep up to date ------------------------------------------------------------------------------------


def _add(opened: Team, args: Namespace) -> Answer:
    lines = [[word] for word in args.subjects]
    if args.subjects == ["-"]:
        lines = [line.split() for line in sys.stdin.read().splitlines() if line.strip() and line.strip()[0] != "#"]
    for line in lines:
        for word in (*line, args.name or "", args.branch or "", args.ref or ""):
            _check_word(word)
    if not lines or len(lines) > _MOST_LINES or any(len(line) > 2 for line in lines):
        raise InvalidInput(
            "Exactly one URL or PATH can be added.",
            remedy="Usage: findling team add URL|PATH, or - with a line 'URL|PATH [NAME]' for each on stdin.",
        )
    if args.name is not None and len(lines) > 1:
        raise InvalidInput(
            "--name is for a single URL or PATH.", remedy="On stdin write each name behind its URL or PATH."
        )
    if args.branch and args.ref:
        raise InvalidInput(
            "--branch and --ref cannot both be given.",
            remedy="--branch says what the collection is made of; --ref adds a ref that is asked for by its name.",
        )
    ref = check_branch(args.ref) if args.ref not in (None, LIVE) else ""
    rows = [_row(line[0], (line[1:] or [args.name])[0], args.branch or "", ref) for line in lines]
    opened.add(rows, args.every, ref)
    names = [remote.named(name, ref) for name, _, _ in rows]
    return Answer([[("queued", name) for name in names]], {"queued": names})


def _check_word(word: str) -> None:
    """Raises `InvalidInput` for a name, address or path that the store cannot keep."""
    if not is_text(word) or "\0" in word:
        raise InvalidInput(f"{word[:100]!a} is not UTF-8.", remedy="Name it in UTF-8.")
    if len(word) > _MOST_CHARS:
        raise InvalidInput(
            f"{word[:100]!r}… has more than {_MOST_CHARS:,} characters.", remedy="Choose a shorter name."
        )


def _row(source: str, name: str | None, branch: str, ref: str) -> tuple[str, str, str]:
    """(name, source, branch) of a collection. Raises `InvalidInput` and `FetchRefused`."""
    if "://" in source:
        request = checked(RepoRequest(source, branch or ref), fetch_configuration())
        assert isinstance(request, RepoRequest)
        source, branch = request.url, request.branch
        name = name or repository_name(source)
    else:
        folder = Path(source).resolve()
        if branch:
            raise InvalidInput("--branch is for a repository's address.", remedy="--ref names a commit of a folder.")
        if not folder.is_dir():
            raise InvalidInput(f"There is no folder {source!r}.", remedy="Name a folder, or an https address.")
        source, name = str(folder), name or folder.name
    if not name or not name.isprintable() or "," in name or name == ALL_COLLECTIONS:
        raise InvalidInput(f"{name!r} cannot be the name of a collection.", remedy="Choose one with --name.")
    return name, source, branch


def _list(opened: Team, args: Namespace) -> Answer:
    found = opened.sources()
    rows = [
        (remote.named(each.collection, each.ref), f"{each.source}{f'#{each.branch}' if each.branch else ''}")
        for each in found
    ]
    value = {"collections": [_value(each) for each in found]}
    return Answer([rows or [("collections", "none")]], value, status=status_of(found))


def _status(opened: Team, args: Namespace) -> Answer:
    found = opened.sources(args.subjects)
    totals = opened.totals()
    states: dict[str, Any] = totals._asdict()
    oldest = states.pop("oldest_s")
    summary = [(state, f"{number:,}") for state, number in states.items()]
    if totals.queued:
        summary.append(("oldest in the queue", _time(oldest)))
    if (said := said_of_milvus(opened.database, fetch_configuration())) is not None:
        states["milvus"] = said
        summary.append(("Milvus", states["milvus"]))
    named = [_rows(each) for each in found if args.subjects or each.problem or each.state == "running"]
    value = {"totals": {**states, "oldest_s": oldest}, "collections": [_value(each) for each in found]}
    failed = any(each.state == "parked" for each in found)
    return Answer([*named, summary], value, status=NOTHING if failed or not found else FOUND)


def _rows(each: Source) -> Rows:
    rows = (
        ("collection", each.collection),
        ("ref", each.ref),
        ("source", each.source),
        ("branch", each.branch),
        ("state", f"{each.state} for {_time(each.age_s)}"),
        ("worker", each.worker),
        ("attempts", str(each.attempts) if each.attempts else ""),
        ("problem", each.problem),
        ("published", each.done_at.isoformat(timespec="seconds") if each.done_at else ""),
        ("commit", each.commit),
    )
    return [(key, value) for key, value in rows if value]


def _time(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _value(each: Source) -> dict[str, Any]:
    value = {key: item for key, item in each._asdict().items() if item not in (None, "")}
    value = {key: item.isoformat() if hasattr(item, "isoformat") else item for key, item in value.items()}
    return {**value, "every": each.every.total_seconds()} if each.every else value


def _remove(opened: Team, args: Namespace) -> Answer:
    if len(args.subjects) != 1:
        raise InvalidInput("Missing NAME.", remedy="Usage: findling team remove NAME")
    opened.remove(args.subjects[0], args.ref or "")
    name = remote.named(args.subjects[0], args.ref or "")
    return Answer([[("removed", name)]], {"removed": name})


# --- who may search what ---------------------------------------------------------------------------------------------


def _user(opened: Team, args: Namespace) -> Answer:
    rights = _rights(opened)
    what, *names = args.subjects or [""]
    if what == "list" and not names:
        users, groups = rights.listed()
        blocks = [
            [("user", name), ("groups", ", ".join(of) or "none"), ("tokens", str(tokens))] for name, of, tokens in users
        ] + [
            [("group", name), *(("allowed" if allowed else "denied", collection) for collection, allowed in judged)]
            for name, judged in groups
        ]
        value = {
            "users": [{"name": name, "groups": of, "tokens": tokens} for name, of, tokens in users],
            "groups": [{"name": name, "rights": dict(judged)} for name, judged in groups],
        }
        return Answer(blocks, value, status=status_of(users))
    if what not in ("add", "remove") or not names:
        raise InvalidInput(
            "'findling team user' needs an action, and names of users.",
            remedy="Usage: findling team user add|remove NAME..., or user list",
        )
    for name in names:
        (rights.add_user if what == "add" else rights.remove_user)(name)
    return _said("user", f"{', '.join(names)} {'added' if what == 'add' else 'removed'}")


def _group(opened: Team, args: Namespace) -> Answer:
    what, group, *names = [*args.subjects, "", ""][: max(2, len(args.subjects))]
    if what not in ("add", "remove") or not group:
        raise InvalidInput(
            "'findling team group' needs an action, and the name of a group.",
            remedy="Usage: findling team group add|remove GROUP [NAME...]",
        )
    rights = _rights(opened)
    (rights.add_to_group if what == "add" else rights.remove_from_group)(group, names)
    if what == "remove" and not names:
        return _said("group", f"{group} removed")
    return _said("group", f"{group} {'has' if what == 'add' else 'no longer has'} {', '.join(names) or 'nobody'}")


def _judge(opened: Team, args: Namespace) -> Answer:
    if len(args.subjects) != 2:
        raise InvalidInput(
            "A group and a collection are needed.", remedy=f"Usage: findling team {args.action} GROUP COLLECTION"
        )
    group, collection = args.subjects
    if args.action == "forget":
        _rights(opened).forget(group, collection)
        return _said("right", f"{group} is neither allowed nor denied {collection} any more")
    known = _rights(opened).judge(group, collection, allowed=args.action == "allow")
    words = f"{group} is {'allowed' if args.action == 'allow' else 'denied'} {collection}"
    return _said("right", words if known else f"{words}; there is no such collection yet")


def _token(opened: Team, args: Namespace) -> Answer:
    rights = _rights(opened)
    if len(args.subjects) == 2 and args.subjects[0] == "revoke":
        rights.revoke(args.subjects[1])
        return _said("token", f"that of {args.subjects[1]} is revoked")
    if len(args.subjects) != 1:
        raise InvalidInput("Missing NAME.", remedy="Usage: findling team token NAME, or token revoke NAME")
    token = rights.new_token(args.subjects[0])
    return Answer([[("token", token)]], {"user": args.subjects[0], "token": token})


def _role(opened: Team, args: Namespace) -> Answer:
    if len(args.subjects) != 1:
        raise InvalidInput("Missing NAME.", remedy="Usage: findling team role NAME, a role of the database")
    _rights(opened).let_serve(args.subjects[0])
    return _said("role", f"{args.subjects[0]} may serve users")


def _rights(opened: Team) -> Rights:
    return remote.Rights(opened.database)


def _said(key: str, words: str) -> Answer:
    return Answer([[(key, words)]], {key: words})


_ACTIONS: Final[dict[str, Callable[[Team, Namespace], Answer]]] = {
    "add": _add,
    "list": _list,
    "status": _status,
    "remove": _remove,
    "user": _user,
    "group": _group,
    "allow": _judge,
    "deny": _judge,
    "forget": _judge,
    "token": _token,
    "role": _role,
}


# --- the worker ------------------------------------------------------------------------------------------------------


def worker(args: Namespace, session: Session) -> int:
    """Work until a signal, or with ``--once`` until there is nothing to do. What happens is logged on stderr."""
    outbound.to_stderr("info")
    with _opened() as (opened, url):
        working = Worker(opened, url, data_directory() / "workers")
        port = None
        if args.metrics is not None:
            host, number = host_and_port(args.metrics)
            port = Port(host, number, ready=opened.database.queue, gauges=lambda: gauges(opened.database.queue()))
        with suppress(ValueError):  # signals cannot be handled in a thread; its caller ends it
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: working.stop())
        try:
            work = working.work(once=args.once)
        finally:
            if port is not None:
                port.close()
    rows = [("published", f"{work.done:,}"), ("failed", f"{work.failed:,}")]
    value = {"published": work.done, "failed": work.failed}
    session.show(Root(Path.cwd(), ""), lambda view: view.records([rows], value))
    return ERROR if work.failed else FOUND if work.done else NOTHING
