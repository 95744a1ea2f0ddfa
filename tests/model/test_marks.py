from __future__ import annotations

import pytest

from findling.model.marks import classify, content_marks, left_out_by_name, looks_secret, secret_in
from findling.model.types import SkippedFile
from findling.reading.prepare import prepare

KEY_LINE = b"MIIEpAIBAAKCAQEA7bq9Zm3Qx1v0u8nYwTtqWk5hR2sLpC4eGdJfKiUyXzVbNoPa\n"
KEY = b"-----BEGIN RSA PRIVATE KEY-----\n" + KEY_LINE * 12 + b"-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "path",
    [
        ".env", "app/.env.local", "prod.env", ".env.production.local", ".envrc", "server.pem", "a/tls.key", "x.p12",
        "x.PFX", "release.jks", "my.keystore", "id_rsa", ".ssh/id_ed25519", "id_ecdsa.bak", ".netrc", "_netrc",
        ".git-credentials", ".aws/credentials", "credentials", "Credentials.json", "secrets.yml",
        "client_secret_123.apps.json", "service-account.json", "my-service_account-key.json", "vault.kdbx",
        ".htpasswd", ".pgpass", "passwords.txt", "terraform.tfstate", "terraform.tfstate.backup",
        ".docker/config.json", ".kube/config", ".bash_history", "AuthKey.p8",
    ],
)  # fmt: skip
def test_secrets_are_left_out(path: str) -> None:
    assert (left_out_by_name(path) or ("",))[0] == "secret"


@pytest.mark.parametrize(
    "path",
    [
        "env.py", "src/environment.ts", ".env.example", ".env.sample", "config/.env.template", "example.env",
        "env.d.ts", "key.go", "keys.rs", "secrets.py", "secret.go", "credentials.ts", "credentials_test.go",
        "CredentialsProvider.java", "password.rb", "id_rsa_parser.py", "id_rsa.pub", "netrc.c", "serviceaccount.go",
        "account.json", "docs/secrets.md", "charts/app/templates/secrets.yaml", "docker/config.json",
        "config/credentials.example.json", ".npmrc", "pem.py", "tests/test_env.py", "dotenv.js", "htpasswd.py",
        "keyboard.key.ts", "client_secret.py",
    ],
)  # fmt: skip
def test_source_with_suspicious_names_stays(path: str) -> None:
    assert left_out_by_name(path) is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a/logo.PNG", "binary"), ("x.so", "binary"), ("m.safetensors", "binary"), ("a.min.js", "minified"),
        ("a.min.css", "minified"), ("bundle.js.map", "minified"), ("package-lock.json", "lock_file"),
        ("Cargo.lock", "lock_file"), ("go.sum", "lock_file"), ("sub/uv.lock", "lock_file"),
    ],
)  # fmt: skip
def test_files_that_nobody_reads_are_left_out(path: str, reason: str) -> None:
    assert (left_out_by_name(path) or ("",))[0] == reason


@pytest.mark.parametrize(
    "path", ["lock.py", "minify.js", "a.svg", "data.json", "file.lock", "x.map", "admin.js", "go.mod"]
)
def test_names_that_only_look_so_stay(path: str) -> None:
    assert left_out_by_name(path) is None


def test_key_contents() -> None:
    assert looks_secret(KEY)
    assert looks_secret(b'{"private_key": "' + KEY.replace(b"\n", b"\\n") + b'"}', "any.json")
    assert looks_secret(KEY + b"a few words\n", "notes.md")
    assert looks_secret(KEY[:400], "cut.txt")
    assert not looks_secret(b"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n")
    assert not looks_secret(b"if line == '-----BEGIN PRIVATE KEY-----':\n    parse(line)\n" * 50, "pem.py")
    test_file = b"package x\n\nfunc TestIt(t *testing.T) {}\n" * 100 + KEY
    assert not looks_secret(test_file, "x_test.go")
    assert looks_secret(test_file, "x.yaml")
    assert not looks_secret(KEY.replace(b"PRIVATE", b"PUBLIC"))


def test_many_labels_are_cheap() -> None:
    assert not looks_secret(b"-----BEGIN PRIVATE KEY-----\n" * 30_000)


def test_tokens_in_files_known_for_them() -> None:
    assert looks_secret(b"//registry.npmjs.org/:_authToken=npm_abcdefghijkl\n", ".npmrc")
    assert looks_secret(b"[pypi]\nusername = __token__\npassword = pypi-abcdefgh\n", "sub/.pypirc")
    assert not looks_secret(b"//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nsave-exact=true\n", ".npmrc")
    assert not looks_secret(b"_authToken=npm_abcdefghijkl\n", "readme.md")


def test_what_was_seen_is_said() -> None:
    assert secret_in(KEY, "notes.txt") == secret_in(KEY, ".npmrc") == "a private key (line 1)"
    assert secret_in(b"_authToken=npm_abcdefghijkl\n", ".npmrc") == "a token or password (line 1)"
    assert secret_in(b"save-exact=true\n", ".npmrc") == ""
    left_out = prepare(".npmrc", b"_authToken=npm_abcdefghijkl\n")
    assert isinstance(left_out, SkippedFile)
    assert (left_out.reason, left_out.detail) == ("secret", "it contains a token or password (line 1)")


@pytest.mark.parametrize(
    ("path", "marks"),
    [
        ("src/app.py", set()),
        ("tests/test_app.py", {"test"}),
        ("pkg/app_test.go", {"test"}),
        ("src/FooTest.java", {"test"}),
        ("src/Contest.java", set()),
        ("src/latest/attest.py", set()),
        ("src/Button.spec.tsx", {"test"}),
        ("spec/models/user_spec.rb", {"test"}),
        ("vendor/lib/x.go", {"vendored"}),
        ("third_party/x.cc", {"vendored"}),
        ("examples/basic/main.rs", {"example"}),
        ("api/v1/api.pb.go", {"generated"}),
        ("api/thing_pb2.py", {"generated"}),
        ("pkg/zz_generated.deepcopy.go", {"generated"}),
        ("static/app.min.js", {"minified"}),
        ("yarn.lock", {"lock"}),
        ("vendor/x/tests/y_test.go", {"vendored", "test"}),
    ],
)
def test_marks_of_paths(path: str, marks: set[str]) -> None:
    assert classify(path) == marks


def test_marks_of_contents() -> None:
    assert content_marks(b"// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage x\n") == {"generated"}
    assert content_marks(b"/**\n * @generated SignedSource<<x>>\n */\n") == {"generated"}
    assert content_marks(b"# This file is autogenerated by pip-compile\n") == {"generated"}
    assert content_marks(b"# This file was generated, so do not edit by hand\n") == {"generated"}
    assert content_marks(b"# how code is generated\ndef generate(): pass\n") == frozenset()
    assert content_marks(b"x = 1\n" * 400 + b"# Code generated by x. DO NOT EDIT.\n") == frozenset()
    minified = b"!function(e,t){for(var n=0;n<t.length;n++)e.push(t[n]);return(e)}(a,b);" * 50
    assert content_marks(minified) == {"minified"}
    assert content_marks(b"A paragraph of prose that goes on and on in one line. " * 80) == frozenset()
    assert content_marks("これは日本語の長い段落です。".encode() * 100) == frozenset()
    assert content_marks(b"short\n" * 600) == frozenset()


@pytest.mark.parametrize(
    "head",
    [
        "<!-- Generated by javadoc (17) on Mon Jan 01 -->",
        '<meta name="generator" content="Doxygen 1.9.1"/>',
        '<meta name="generator" content="rustdoc">',
        '<title>Table</title><script>var pathToRoot = "../";</script>',
        '<script async src="assets/navigation.js" id="tsd-nav-script"></script>',
    ],
)
def test_pages_made_of_sources_are_read_by_their_beginnings(head: str) -> None:
    body = "".join(f"<h2>Part {number}</h2><p>{'words of it ' * 60}</p>\n" for number in range(40))

    def chunks_of(head: str) -> int:
        read = prepare(
            "docs/page.html", f"<!doctype html>\n<html><head>{head}</head><body>{body}</body></html>".encode()
        )
        assert not isinstance(read, SkippedFile)
        assert read.generated is bool(head)
        return len(read.chunks)

    assert chunks_of(head) < 6 < chunks_of("")
