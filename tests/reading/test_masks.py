"""Secrets in ordinary files: masked on every way out of findling, and nowhere in what it keeps."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import office
import pytest

from findling import reading
from findling.contracts import Workspace, call
from findling.contracts.tools import TOOLS
from findling.engine import Engine
from findling.engine.library import Library
from findling.engine.remote.filling import recipe_of
from findling.faces.cli.main import main
from findling.model import reading as readings
from findling.model import secrets
from findling.model.secrets import MASK, mask
from findling.model.text_encodings import as_utf8
from findling.outbound.files import RootFiles
from findling.reading.decoding import decode
from findling.sources.scan import Asked, scan

TOKEN = "R4nD0mT0k3nQx7vLw2ZpK9sJ5hGtYb8NcMfa"  # of no account
PREFIXED = f"ghp_{TOKEN}"
PASSWORD = "Kx7-vLw2!ZpK9s"
PIECES = (TOKEN[:12], TOKEN[-12:], PASSWORD)

CODE = f'''\
"""Talks to the upload service."""

UPLOAD_TOKEN = "{PREFIXED}"


def upload_report(report, token="{PREFIXED}"):
    """Send a report to the upload service."""
    return post(report, token, password="{PASSWORD}")
'''
PROSE = f"""\
# Uploading

The upload service wants a token.

    export UPLOAD_TOKEN={PREFIXED}

Then reports are sent every hour.
"""
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": [f'upload(token="{PREFIXED}")\n']}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "upload.py").write_text(CODE)
    (root / "wide.py").write_bytes(b"\xff\xfe" + CODE.encode("utf-16-le"))
    (root / "docs" / "uploading.md").write_text(PROSE)
    (root / "docs" / "upload.ipynb").write_text(NOTEBOOK)
    (root / "docs" / "manual.docx").write_bytes(
        office.docx(office.paragraph("Uploading by hand") + office.paragraph(f"The upload token is {PREFIXED} today."))
    )
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    return root


def leaks(*texts: str | bytes) -> list[str]:
    """The pieces of secrets that are in some texts."""
    joined = b"\n".join(text.encode("utf-8", "replace") if isinstance(text, str) else text for text in texts).lower()
    return [piece for piece in PIECES if piece.lower().encode() in joined]


def kept(folder: Path) -> bytes:
    """All that findling has written below a folder."""
    return b"\n".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


COMMANDS = (
    ["search", "upload report token"],
    ["search", "upload report token", "--json", "--explain"],
    ["search", "upload service", "--mode", "keyword", "--max-tokens", "900"],
    ["grep", "UPLOAD_TOKEN"],
    ["grep", "upload", "-i", "-C", "3", "--json"],
    ["grep", "upload", "--json-events"],
    ["grep", "password", "-W"],
    ["grep", "TOKEN", "-o", "-r", "<$0>"],
    ["grep", "TOKEN = .*", "-o"],
    ["grep", "nothing-of-this", "-v"],
    ["grep", r"token[\s\S]*", "-U", "-i"],
    ["symbol", "upload_report", "--references"],
    ["symbol", "UPLOAD_TOKEN", "--json"],
    ["similar", "upload.py"],
    ["outline", "upload.py"],
    ["tool", "get_file", '{"path": "upload.py"}'],
    ["why", "upload.py"],
    ["status"],
)


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(list(words))
    printed = capsys.readouterr()
    return status, printed.out + printed.err


@pytest.mark.parametrize("state", ["without an index", "indexed", "a commit"])
def test_no_command_prints_a_secret(
    project: Path, state: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    if state != "without an index":
        typed(capsys, "index", *(["--ref", "main"] if state == "a commit" else []))
    answered = 0
    for words in COMMANDS:
        with_ref = state == "a commit" and words[0] in ("search", "grep", "symbol", "similar")
        status, said = typed(capsys, *words, *(["--ref", "main"] if with_ref else []))
        assert leaks(said) == [], words
        answered += status == 0
    assert answered >= 10
    assert leaks(kept(project / ".findling")) == []


def test_a_pattern_never_matches_inside_a_mask(project: Path) -> None:
    with Engine.open(project) as engine:
        for ready in (False, True):
            if ready:
                engine.index()
            for inside in (TOKEN, TOKEN[:6], TOKEN[8:], "ghp_[A-Z]", r'token="\w{40}"', PASSWORD.split("!")[0]):
                assert engine.grep(inside, ignore_case=True).total_occurrences == 0, (ready, inside)
            found = engine.grep("ghp_")
            assert {file.path for file in found.files} >= {"upload.py", "wide.py", "docs/uploading.md"}
            assert all(f"ghp_{MASK}" in line.text for file in found.files for line in file.lines)
            assert secrets.WHAT_MASKS_ARE in found.notes
            assert leaks(repr(engine.search(TOKEN).hits)) == []


def test_an_export_has_no_secret(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Engine.open(project) as engine:
        engine.index()
        engine.export(tmp_path / "out.db")
    assert leaks((tmp_path / "out.db").read_bytes()) == []


ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_file": {"path": "upload.py"},
    "get_file_outline": {"path": "upload.py"},
    "list_defs_in_file": {"path": "upload.py"},
    "locate_symbol": {"name": "upload_report", "detail_level": "context"},
    "find_symbol": {"name": "upload_report"},
    "find_similar": {"file": "docs/uploading.md"},
    "get_file_details": {"filePath": "docs/uploading.md"},
}


def test_no_tool_hands_out_a_secret(project: Path) -> None:
    answered = []
    with Workspace(project, root=project) as workspace:
        call("index_repo", {}, workspace)
        for tool in TOOLS.values():
            if "query" in tool.schema["properties"]:
                given: dict[str, Any] = {"query": "upload report token"}
            elif tool.name in ARGUMENTS or not tool.schema.get("required"):
                given = ARGUMENTS.get(tool.name, {})
            else:
                continue
            result = call(tool.name, given, workspace)
            assert leaks(json.dumps(result.structured), *result.text_blocks) == [], tool.name
            answered += [] if result.is_error else [tool.name]
    assert {"get_file", "search_code", "search_keyword", "semantic_search", "find_symbol", "locate_symbol"} <= {
        *answered
    }


def test_a_file_that_is_given_says_where_it_is_masked(project: Path) -> None:
    with Workspace(project, root=project) as workspace:
        whole = call("get_file", {"path": "upload.py"}, workspace)
        assert whole.structured is not None
        assert whole.structured["masked"] == [[3, "github-token"], [6, "github-token"], [8, "password"]]
        assert "Never write a mask back" in whole.structured["note"]
        assert "Never write a mask back" in whole.text_blocks[-1]
        assert whole.text_blocks[-1].endswith("Lines: 3 (github-token), 6 (github-token), 8 (password)")
        assert whole.structured["content"].count("\n") == CODE.count("\n")
        part = call("get_file", {"path": "upload.py", "start_line": 4, "end_line": 7}, workspace).structured
        assert part is not None and part["masked"] == [[6, "github-token"]]
        plain = call("get_file", {"path": "upload.py", "start_line": 1, "end_line": 2}, workspace).structured
        assert plain is not None and "masked" not in plain
        document = call("get_file", {"path": "docs/manual.docx"}, workspace).structured
        assert document is not None and [rule for _, rule in document["masked"]] == ["secret"]


def test_a_library_has_no_secret(project: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "library") as library:
        library.add(project / "docs", name="docs")
        found = library.search("upload token")
        assert found.passages
        assert leaks(*(passage.content for passage in found.passages)) == []
        assert any(f"ghp_{MASK}" in passage.content for passage in found.passages)
    assert leaks(kept(tmp_path / "library")) == []


def test_why_says_rule_and_line(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "ca.txt").write_text(
        f"# ours\n-----BEGIN PRIVATE KEY-----\n{'MIIEvQ' * 20}\n-----END PRIVATE KEY-----\n"
    )
    said = typed(capsys, "why", "upload.py")[1]
    assert "line 3 (github-token), line 6 (github-token), line 8 (password)" in said
    assert "a private key (line 2)" in typed(capsys, "why", "ca.txt")[1]
    assert leaks(said) == []


def test_secrets_are_shown_on_a_terminal_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = typed(capsys, "grep", "UPLOAD_TOKEN", str(project), "--show-secrets")
    assert (status, leaks(said)) == (2, [])
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "findling", "grep", PREFIXED, "--show-secrets", "upload.py"],
        cwd=project,
        stdout=slave,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.wait(60) == 0
        os.close(slave)
        said = os.read(master, 100_000).decode()
    os.close(master)
    assert said.count(PREFIXED) == 2


@pytest.mark.parametrize("read_otherwise", [secrets, readings])
def test_what_another_version_read_is_read_again(
    read_otherwise: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(None)
    with Engine.open(project) as engine:
        engine.index()
        assert engine.index().changed == 0
    monkeypatch.setattr(read_otherwise, "VERSION", read_otherwise.VERSION + 1)
    assert recipe_of(None) != recipe  # by which a shared store tells
    with Engine.open(project) as engine:
        assert engine.index().changed > 0
        assert engine.index().changed == 0


# --- what is masked and what is not ---------------------------------------------------------------------------

HARMLESS = (
    'aws = "AKIAIOSFODNN7EXAMPLE"',
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "token: <token>",
    'token = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ${DB_PASSWORD}",
    'password = os.environ["DB_PASSWORD"]',
    "api_key = settings.STRIPE_API_KEY2",
    "token = get_token_from_request(request)",
    'request_token = "123e4567-e89b-12d3-a456-426614174000"',
    'integrity: "sha512-9NykojV5Uih4lgo5So5dtw+f0JgJX30KCNI8gwhz2J9A15wD0Ml6tjHKwf6fTSa6fAdVBdZeNOs9eJ71qCk8vA=="',
    "commit 6dcb09b5b57875f334f61aebed695e2e4193db5e",
    'public_key = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="',
    'password_hash = "pbkdf2_sha256$260000$Qx7vLw2ZpK9s$5hGtYb8NcMfaR4nD0mT0k3n="',
    '<input type="password" name="user_password2" placeholder="Your password">',
    'password: "changeme123!"',
    "http://user:pass@example.org/",
    'const TOKEN_KIND = "IdentifierOrKeyword2Token";',
    'data = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4"',
    "The key is -----BEGIN PRIVATE KEY----- and so on.",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_placeholders_and_other_long_words_stay(text: str) -> None:
    assert mask(text.encode()).masks == ()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            "curl -s --user 'ci-bot:plum-window' \\\n  https://repo.example/x\n",
            "curl -s --user 'ci-bot:M' \\\n  https://repo.example/x\n",
        ),
        ("curl https://x.example -udeploy:greenkettle77\n", "curl https://x.example -udeploy:M\n"),
        ("Authorization: 7f3kq9zpl2mx8vbn4trw\n", "Authorization: M\n"),
        ("postgres://app:plumwindow@db.internal/x\n", "postgres://app:M@db.internal/x\n"),
        ("postgresql://app:p%40ss%2Fword%3F%23__@db/x\n", "postgresql://app:M@db/x\n"),
        (f"https://{TOKEN}:x-oauth-basic@github.com/a/b\n", "https://M:x-oauth-basic@github.com/a/b\n"),
        ("  POSTGRES_PASSWORD: plumwindow\n  TZ: Europe\n", "  POSTGRES_PASSWORD: M\n  TZ: Europe\n"),
        ("  - MYSQL_ROOT_PASSWORD=plumwindow\r\n", "  - MYSQL_ROOT_PASSWORD=M\r\n"),
        ("spring.datasource.password=plumwindow\n", "spring.datasource.password=M\n"),
        (
            "kind: Secret\nmetadata:\n  name: db\ndata:\n  host: cGx1bXdpbmRvdw==\nstringData:\n  app.yaml: |\n"
            "    mode: plum\n\n  url: {{ .Values.url }}\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n  host: db\n",
            "kind: Secret\nmetadata:\n  name: db\ndata:\n  host: M\nstringData:\n  app.yaml: |\n"
            "    mode: M\n\n  url: {{ .Values.url }}\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n  host: db\n",
        ),
        ('{"data": {"host": "cGx1bXdpbmRvdw=="}, "kind": "Secret"}\n', '{"data": {"host": "M"}, "kind": "Secret"}\n'),
    ],
)
def test_passwords_that_are_words_where_nothing_else_can_stand(text: str, masked: str) -> None:
    once = mask(text.encode())
    assert once.text.decode() == masked.replace("M", MASK).replace(f"{MASK}YSQL", "MYSQL").replace(
        f"Config{MASK}ap", "ConfigMap"
    )
    assert mask(once.text).text == once.text


@pytest.mark.parametrize(
    "text",
    [
        "curl -u user:password https://x.example\n",
        'curl -u "$NAME:$PASSWORD" https://x.example\n',
        "curl -u <name>:<password> https://x.example\n",
        "postgres://postgres:postgres@localhost/x\n",
        "https://{token}:x-oauth-basic@github.com/x\n",
        "Authorization: Bearer $TOKEN\n",
        "DB_PASSWORD=required\n",
        "    password=credentials\n",
        "password: plumwindow\n",
        "POSTGRES_PASSWORD: plumwindow and more\n",
        "kind: SecretList\ndata:\n  host: plumwindow\n",
        "kind: Secret\ndata:\n  host: {{ .Values.host | b64enc }}\n",
    ],
)
def test_words_that_may_be_something_else_stay(text: str) -> None:
    assert mask(text.encode()).masks == ()


GIVEN = (
    "  - name: API_TOKEN\n    value: {}\n",
    '{{"name": "DB_PASSWORD", "value": "{}"}}\n',
    '{{"administratorLoginPassword": {{"value": "{}"}}}}\n',
    "DBPassword:\n  Type: String\n  Default: {}\n",
    'variable "db_password" {{\n  type = string\n  default = "{}"\n}}\n',
    'var dbPass string = "{}"\n',
    'let password: &\'static str = "{}";\n',
    "ENV API_SECRET {}\n",
    "setx API_SECRET {}\n",
    "ansible_become_pass: {}\n",
    'sshpass -p "{}" scp a b:\n',
    '$pass = ConvertTo-SecureString "{}" -AsPlainText -Force\n',
    "storePassword '{}'\n",
    "ALTER USER app IDENTIFIED BY '{}';\n",
    "The root password is `{}`.\n",
    "<key>ApiSecret</key>\n<string>{}</string>\n",
    "Authorization:\n- Bearer {}\n",
    "'Authorization' => 'Basic {}',\n",
    "Authorization: SSWS {}\n",
    "define('AUTH_KEY', 'a x');\ndefine( 'NONCE_SALT', '{}{}| `t\"' );\n",
)
"""Where people write a secret; what stands there is random."""


@pytest.mark.parametrize("place", GIVEN)
def test_a_value_is_found_however_it_is_given(place: str) -> None:
    value = "Kx7vLw2ZpK9sQ4tB8nRd"
    masked = mask(place.format(value, "e8Wk5Yq2Tn6Zc1Hb4Vd9Mg3Xs7Jr0LfPaUo2Qi6C"[:39]).encode())
    assert value.encode() not in masked.text and len(masked.masks) == 1
    assert masked.text.count(b"\n") == place.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        '<input type="password" id="r4nd0m1dQx7vLw2Z">\n',
        '<a anchor-label="password" id="1226024993%2FProperties%2F-1435837140">\n',
        "https://3f9a1c7be204d68591be07fa4c2d6e80@o12.ingest.sentry.io/7\n",
        'bypass = "Kx7vLw2ZpK9sQ4tB8nRd"\n',
        "token Kx7vLw2ZpK9sQ4tB8nRd\n",
        'api_auth_1 = "https://radio.example/v2/api/auth1"\n',
        "    secret: bool = False\n    default: Kx7vLw2ZpK9sQ4tB8nRd\n",
        "http://user:%01%02%03%04%05%06@host/\n",
        "To do so, pass `http2Only` or 'x86_64-pc-Linux' to it.\n",
        '{"PasswordLastUsed": "2016-09-08T21:47:36Z", "token_renewed": "2024-05-01T10:00:00Z"}\n',
        '"encryptionKey": "arn:aws:kms:us-west-2:417498243647:key/c9fe2447-0795-4fda-afbe-8464574ae162"\n',
        "image token: registry:5000/app:v1.2.3-rc4\n",
        '"alias/aws/secretsmanager": "fee5173a-3972-428e-ae73-cd4c2a371222"\n',
    ],
)
def test_what_only_stands_beside_a_telling_name_stays(text: str) -> None:
    assert mask(text.encode()).masks == ()


HOSTILE = """
import resource
from findling.model.secrets import mask
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
for unit in "apikey", "token", "secret", "passw", "auth", "token>", "token:" + " " * 39 + "type:":
    assert mask((unit * (400_000 // len(unit))).encode()).masks == (), unit
"""
"""Takes a second where all is linear, and some minutes where one repetition is not: then the process is killed."""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not bound the processor time of a process")
def test_hostile_text_takes_no_more_than_linear_time() -> None:
    assert subprocess.run([sys.executable, "-c", HOSTILE], check=False).returncode == 0


HEXES = "3f9a1c7be204d68591be07fa4c2d6e80"


@pytest.mark.parametrize(
    ("text", "rule", "secret"),
    [
        (f"url = sgp_{HEXES[:16]}_{HEXES}91Be07fA\n", "sourcegraph-token", HEXES),
        (f"Set-Cookie: _gitlab_session={HEXES}; path=/\n", "gitlab-session", HEXES),
        (f"oc login --token=sha256~{TOKEN}aB3dE5f\n", "openshift-token", TOKEN),
        (f"adobe('p8e-{TOKEN[:32]}')\n", "adobe-secret", TOKEN[:32]),
        (f"app = 8427150936184275|{TOKEN[:27]}\n", "facebook-app-token", TOKEN[:27]),
        ("HEROKU_API_KEY = 'c6812f51-dfea-43ff-90f9-85eb8a4fd889'\n", "assigned-secret", "85eb8a4fd889"),
    ],
)
def test_shapes_that_gitleaks_knows(text: str, rule: str, secret: str) -> None:
    masked = mask(text.encode())
    assert masked.masks == ((1, rule),)
    assert secret.encode() not in masked.text and MASK.encode() in masked.text


@pytest.mark.parametrize("name", ["request_token", "session_key", "user_id"])
def test_an_identifier_is_a_key_only_of_those_who_give_out_such_keys(name: str) -> None:
    text = f"{name} = 'c6812f51-dfea-43ff-90f9-85eb8a4fd889'\n".encode()
    assert mask(text).text == text


def test_a_private_key_in_code_keeps_its_lines() -> None:
    body = "\n".join(f'    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj{line}\\n" +' for line in range(10, 20))
    text = f'KEY = "-----BEGIN PRIVATE KEY-----\\n" +\n{body}\n    "-----END PRIVATE KEY-----"\nafter = 1\n'
    found = mask(text.encode())
    assert b"MIIE" not in found.text and b"BAQEF" not in found.text
    assert found.text.decode().split("\n")[1] == f'    "{MASK}\\n" +'
    assert found.text.decode().endswith('\n    "-----END PRIVATE KEY-----"\nafter = 1\n')
    assert [line for line, _ in found.masks] == list(range(2, 12))


def test_masking_twice_does_no_harm() -> None:
    once = mask(CODE.encode() + PROSE.encode() + NOTEBOOK.encode()).text
    assert once.count(MASK.encode()) == 5
    assert mask(once).text == once
    assert as_utf8(once) == once


def test_text_with_odd_bytes_is_masked_the_same_way_for_both_readers() -> None:
    for data in (
        CODE.encode("utf-16"),
        b"\xef\xbb\xbf" + CODE.encode(),
        "# Gr\xfc\xdfe\n".encode("cp1252") + CODE.encode(),
    ):
        decoded = decode(data)
        assert isinstance(decoded, reading.decoding.Decoded)
        assert leaks(decoded.text, as_utf8(data, decoded.encoding)) == []


@pytest.fixture(scope="module")
def generator() -> Iterator[ModuleType]:
    path = Path(__file__).parents[2] / "benchmarks" / "masks.py"
    spec = importlib.util.spec_from_file_location("masks_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module


@pytest.mark.parametrize("seed", range(3))
def test_what_vendors_document_is_masked(generator: ModuleType, seed: int) -> None:
    samples = list(generator.samples(seed))
    missed = [each for each in samples if each.secret in generator.read(each.path, each.text)]
    assert len(samples) >= 300
    assert len(missed) <= 0.05 * len(samples), missed


@pytest.mark.parametrize("seed", range(3))
def test_files_as_people_have_them_show_no_secret(generator: ModuleType, seed: int) -> None:
    files = generator.files(seed)
    shown = [file.path for file in files if any(each in generator.read(file.path, file.text) for each in file.secrets)]
    assert len(files) >= 61
    assert len(shown) <= 0.05 * len(files), shown


@pytest.mark.parametrize("files", [3, 40])
def test_a_scan_counts_no_word_of_a_secret(files: int, tmp_path: Path) -> None:
    """Whether few files have the secret or many."""
    for number in range(files):
        (tmp_path / f"service{number}.yml").write_text("environment:\n  DB_PASSWORD: plumwindow\n")
    (tmp_path / "notes.md").write_text("# Environment\n")
    found = [(path.name, path.stat().st_size, 0) for path in tmp_path.iterdir()]
    with RootFiles(tmp_path) as opened:
        asked = Asked({"plumwindow": 1.0, "environment": 1.0}, (), lambda _: False)
        seen = scan(opened, found, asked, 10, max_bytes=1_000_000)
    assert seen.files_with == {"plumwindow": 0, "environment": files + 1}
