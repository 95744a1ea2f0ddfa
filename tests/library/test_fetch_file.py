"""Downloads as jobs of their own process: saved whole or not at all, indexed, listed, cancelled."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_servers import FileServer, dripping, ended, headed, ranged

from findling.engine.jobs import ENDED, Job
from findling.engine.library import Library
from findling.engine.library.fetching import fetch_file
from findling.engine.library.fetching.fetch_requests import FileRequest
from findling.model.collection import Collection
from findling.model.errors import FetchRefused, FileAccess, InvalidInput, NetworkError
from findling.outbound.fetch import Part

Local = Callable[..., None]

TEXT = b"# Volcanoes\n\nLava flows slowly down the mountain side.\n"


def done(library: Library, request: FileRequest) -> Job:
    job = ended(library.jobs, library.fetch(request).id)
    assert isinstance(job, Job)
    return job


def process_of(job: Job) -> int:
    """The id of the process that runs a job."""
    listed = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0]) for line in listed.split("\n") if job.id in line)


def test_a_file_is_saved_indexed_and_found(library: Library, data: Path, local: Local) -> None:
    """S3-23, S3-26."""
    with FileServer({"/lava.md": TEXT}) as server:
        local(server.host)
        job = done(library, FileRequest(f"{server.url}/lava.md?key=TOPSECRET", "lava.md"))
    assert (job.status, job.progress, job.error) == ("completed", 100, "")
    saved = data / "files" / "lava.md"
    assert job.result == {
        "filename": "lava.md",
        "filePath": str(saved),
        "sizeBytes": len(TEXT),
        "source": f"{server.url}/lava.md",
        "indexed": True,
        "chunks": 1,
    }
    assert saved.read_bytes() == TEXT
    found = library.search("how fast does lava move", min_score=0.0)
    assert (found.passages[0].file_path, found.passages[0].collection) == (str(saved), "downloads")
    assert found.passages[0].fetched
    kept = b"".join(path.read_bytes() for path in (data / "jobs").rglob("*") if path.is_file())
    assert b"TOPSECRET" not in kept + (data / "library.json").read_bytes()


def test_overwriting(library: Library, data: Path, local: Local) -> None:
    """S3-24."""
    with FileServer({"/a": TEXT, "/b": b"# Glaciers\n\nIce creeps.\n"}) as server:
        local(server.host)
        done(library, FileRequest(f"{server.url}/a", "x.md"))
        assert done(library, FileRequest(f"{server.url}/b", "x.md")).status == "completed"
        assert library.search("ice", min_score=0.0).passages[0].content.startswith("# Glaciers")
        with pytest.raises(FileAccess, match="exists already"):
            library.fetch(FileRequest(f"{server.url}/a", "x.md", overwrite=False))
        with pytest.raises(FileAccess, match="case only"):
            library.fetch(FileRequest(f"{server.url}/a", "X.MD"))
        failed = done(library, FileRequest(f"{server.url}/none", "x.md"))
    assert (failed.status, failed.error[:8]) == ("failed", "network:")
    assert (data / "files" / "x.md").read_bytes().startswith(b"# Glaciers"), "a failure leaves what was there"
    assert sorted(os.listdir(data / "files")) == ["x.md"]


def test_without_indexing(library: Library, local: Local) -> None:
    """S3-26."""
    with FileServer({"/a": TEXT}) as server:
        local(server.host)
        job = done(library, FileRequest(f"{server.url}/a", "a.md", index=False))
        assert job.result is not None and (job.result["indexed"], job.result["chunks"]) == (False, 0)
        assert library.search("lava", min_score=0.0).passages == ()
        done(library, FileRequest(f"{server.url}/a", "b.md"))
        assert {Path(p.file_path).name for p in library.search("lava", min_score=0.0).passages} == {"b.md"}
        done(library, FileRequest(f"{server.url}/a", "a.md"))
    assert {Path(p.file_path).name for p in library.search("lava", min_score=0.0).passages} == {"a.md", "b.md"}


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        "a\\b",
        "..",
        ".",
        "",
        " ",
        ".hidden",
        "x\0y",
        "x\ny",
        "NUL",
        "con.txt",
        *("COM1", "com1 .txt"),
        "a:b",
        "x.",
        "é" * 150,
    ],
)
def test_names_that_are_no_file_names(library: Library, local: Local, data: Path, name: str) -> None:
    local("127.0.0.1")
    with pytest.raises(InvalidInput):
        library.fetch(FileRequest("http://127.0.0.1/a", name))
    assert not (data / "files").exists()


def test_the_size_limit_holds_while_streaming(library: Library, data: Path, local: Local) -> None:
    """S3-25, D23."""
    with FileServer({"/a": headed(b"x" * 5000)}) as server:
        local(server.host)
        job = done(library, FileRequest(f"{server.url}/a", "a.txt", max_bytes=4999))
    assert (job.status, "more than 4,999 bytes" in job.error) == ("failed", True)
    assert os.listdir(data / "files") == os.listdir(data / "parts") == []


def test_private_addresses_are_refused_unless_named(library: Library, local: Local, data: Path) -> None:
    with FileServer({"/a": TEXT}) as server:
        with pytest.raises(FetchRefused, match="Port"):
            library.fetch(FileRequest(f"{server.url}/a", "a.md"))
        local("localhost")
        job = done(library, FileRequest("http://127.0.0.1/a", "a.md"))
        assert "not a public address" in job.error
        assert server.asked == []
    assert library.search("lava", min_score=0.0).passages == ()


def test_a_project_cannot_allow_anything(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: Local
) -> None:
    (tmp_path / "findling.toml").write_text('[fetch]\nallowed_hosts = ["127.0.0.1"]\n')
    monkeypatch.chdir(tmp_path)
    with FileServer({"/a": TEXT}) as server, pytest.raises(FetchRefused):
        library.fetch(FileRequest(f"{server.url}/a", "a.md"))


def test_one_setting_turns_fetching_off(library: Library, local: Local) -> None:
    with FileServer({"/a": TEXT}) as server:
        local(server.host, enabled=False)
        with pytest.raises(FetchRefused, match="switched off"):
            library.fetch(FileRequest(f"{server.url}/a", "a.md"))


def test_a_job_is_listed_and_cancelled_and_leaves_nothing(library: Library, data: Path, local: Local) -> None:
    with FileServer({"/a": dripping(b"x" * 2000, 0.05)}) as server:
        local(server.host)
        job = library.fetch(FileRequest(f"{server.url}/a?key=TOPSECRET", "a.txt"))
        assert [each.id for each in library.jobs.active()] == [job.id]
        while not server.asked:
            time.sleep(0.02)
        written = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
        assert b"TOPSECRET" not in written, "a token in a URL stands in no file"
        library.jobs.cancel(job.id)
        job = ended(library.jobs, job.id)
    assert (job.status, job.error) == ("failed", "It was cancelled.")
    assert os.listdir(data / "files") == os.listdir(data / "parts") == []
    assert library.jobs.active() == []


def test_a_job_goes_on_when_the_one_that_asked_is_gone(data: Path, local: Local) -> None:
    with FileServer({"/a": dripping(b"# T\n\nsome text about tea\n", 0.02, 20)}) as server:
        local(server.host)
        with Library.open() as first:
            id = first.fetch(FileRequest(f"{server.url}/a", "a.md")).id
        with Library.open() as second:
            assert ended(second.jobs, id).status == "completed"
            assert second.search("tea", min_score=0.0).passages


def test_a_job_whose_process_is_killed_has_failed(library: Library, data: Path, local: Local) -> None:
    import signal

    with FileServer({"/a": dripping()}) as server:
        local(server.host)
        job = library.fetch(FileRequest(f"{server.url}/a", "a.txt"))
        while not server.asked:
            time.sleep(0.02)
        os.kill(process_of(job), signal.SIGKILL)
        job = ended(library.jobs, job.id)
    assert (job.status, job.error) == ("failed", ENDED)
    assert (os.listdir(data / "files"), len(os.listdir(data / "parts"))) == ([], 1)
    with FileServer({"/a": TEXT}) as server:
        local(server.host)
        done(library, FileRequest(f"{server.url}/a", "a.md"))
    assert (os.listdir(data / "files"), os.listdir(data / "parts")) == (["a.md"], []), "what it left behind is gone"


def ranges(server: FileServer) -> list[str]:
    return [headers.get("Range", "") for _, headers in server.asked]


def test_a_server_that_breaks_off_is_asked_for_the_rest(library: Library, data: Path, local: Local) -> None:
    body = b"# Reefs\n\n" + b"Corals grow slowly. " * 1000
    with FileServer({"/a": ranged(body, breaks=[5000])}) as server:
        local(server.host)
        job = done(library, FileRequest(f"{server.url}/a", "a.md"))
        assert ranges(server) == ["", "bytes=5000-"]
    assert (job.status, job.error) == ("completed", "")
    assert (data / "files" / "a.md").read_bytes() == body
    assert os.listdir(data / "parts") == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ranged(b"x" * 9000, breaks=[5000, 5000], tag=None), "nothing tells this file from a later one"),
        (ranged(b"x" * 9000, breaks=[5000, 5000], tag='W/"1"'), "a weak tag is of files that are alike"),
        (ranged(b"x" * 9000, breaks=[0, 0]), "nothing came"),
    ],
)
def test_a_clean_failure_leaves_nothing(answer: Any, why: str, library: Library, data: Path, local: Local) -> None:
    with FileServer({"/a": answer}) as server:
        local(server.host)
        job = done(library, FileRequest(f"{server.url}/a", "a.txt"))
        assert ranges(server) == [""], why
    assert (job.status, "broke off" in job.error, "kept" in job.error) == ("failed", True, False)
    assert os.listdir(data / "files") == os.listdir(data / "parts") == []


def test_the_next_try_goes_on_where_the_last_one_ended(library: Library, data: Path, local: Local) -> None:
    body = bytes(range(256)) * 80
    url_breaks = [3000, 3000, 3000]
    with FileServer({"/a": ranged(body, breaks=url_breaks), "/b": ranged(body, breaks=[])}) as server:
        local(server.host)
        first = done(library, FileRequest(f"{server.url}/a?key=SECRET", "a.txt", index=False))
        assert (first.status, "3,000 bytes of it are kept" in first.error) == ("failed", True)
        assert ranges(server) == ["", "bytes=3000-"], "once no more comes it is not asked again"
        assert len(os.listdir(data / "parts")) == 2
        assert b"SECRET" not in b"".join(path.read_bytes() for path in (data / "parts").iterdir())
        done(library, FileRequest(f"{server.url}/b", "a.txt", index=False))
        assert ranges(server)[2:] == [""], "another file of the same name is another file"
        url_breaks.clear()
        server.answers["/a"] = ranged(body[::-1], breaks=[], tag='"2"')
        again = done(library, FileRequest(f"{server.url}/a?key=SECRET", "a.txt", index=False))
        assert ranges(server)[3:] == ["bytes=3000-"]
    assert again.status == "completed"
    assert (data / "files" / "a.txt").read_bytes() == body[::-1], "the file has changed, so it comes as a whole"
    assert os.listdir(data / "parts") == []


def test_a_download_goes_on_after_its_process_was_killed(library: Library, data: Path, local: Local) -> None:
    import signal

    body = bytes(range(256)) * 200
    with FileServer({"/a": ranged(body, breaks=[], pause_s=0.02)}) as server:
        local(server.host)
        job = library.fetch(FileRequest(f"{server.url}/a", "a.txt", index=False))
        while library.jobs.get(job.id).progress < 20:
            time.sleep(0.02)
        os.kill(process_of(job), signal.SIGKILL)
        assert ended(library.jobs, job.id).status == "failed"
        server.answers["/a"] = ranged(body, breaks=[])
        with Library.open() as later:
            assert done(later, FileRequest(f"{server.url}/a", "a.txt", index=False)).status == "completed"
        assert int(ranges(server)[1].removeprefix("bytes=").rstrip("-")) > 0
    assert (data / "files" / "a.txt").read_bytes() == body
    assert os.listdir(data / "parts") == []


def test_parts_are_swept_away_after_a_while(data: Path) -> None:
    def interrupted(id: str, url: str) -> None:
        with pytest.raises(NetworkError), fetch_file.PartialFile(data, id, url, "a", []) as part:
            part.begin(Part(0, '"1"'))
            part.write(b"some")
            raise NetworkError("it broke off")

    for number in range(fetch_file.KEPT + 3):
        interrupted(f"{number:012}", f"http://a/{number}")
    kept = sorted((data / "parts").glob("*.part"))
    assert len(kept) == fetch_file.KEPT + 1, "the oldest went, all but those that the last one left"
    os.utime(kept[-1], (1, 1))
    with fetch_file.PartialFile(data, "f" * 12, "http://a/other", "a", [kept[0].stem]):
        assert not kept[-1].exists() and not kept[-1].with_suffix(".json").exists()
        assert kept[0].exists(), "it is a running job's"


def test_emptying_the_library_takes_parts_along(library: Library, data: Path) -> None:
    running = library.jobs.start("fetch", "fetch_file")
    for id in ("0" * 12, running.job.id):
        for ending in ("part", "json"):
            (data / "parts").mkdir(exist_ok=True)
            (data / "parts" / f"{id}.{ending}").write_bytes(b"{}")
    library.flush()
    assert {path.stem for path in (data / "parts").iterdir()} == {running.job.id}, "that one is being fetched"
    running.end("done")


def test_all_that_is_fetched_has_one_quota(library: Library, data: Path, local: Local, tmp_path: Path) -> None:
    body = b"# Dunes\n\n" + b"Sand moves with the wind. " * 20_000
    with FileServer({"/a": body}) as server:
        local(server.host)
        config = tmp_path / "config" / "findling" / "config.toml"
        config.write_text(config.read_text().replace("[fetch]", "[fetch]\nmax_total_bytes = 1048576"))
        assert done(library, FileRequest(f"{server.url}/a", "a.md", index=False)).status == "completed"
        assert done(library, FileRequest(f"{server.url}/a", "b.md", index=False)).status == "completed"
        job = done(library, FileRequest(f"{server.url}/a", "c.md", index=False))
    assert (job.status, job.error[:8], "1,048,576" in job.error) == ("failed", "storage:", True)
    assert (sorted(os.listdir(data / "files")), os.listdir(data / "parts")) == (["a.md", "b.md"], [])


def test_what_another_process_takes_out_meanwhile_stays_out(
    library: Library, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data / "files"
    folder.mkdir(parents=True)
    for name in ("a.md", "b.md"):
        (folder / name).write_bytes(TEXT)
    enlist = library.enlist
    library.refresh(library.enlist(folder, fetch_file.NAME, {"type": "files"}).name)

    def then_another_takes_one_out(*arguments: Any) -> Collection:
        collection = enlist(*arguments)
        with Library(data) as other:
            other.remove_file(str(folder / "a.md"))
        return collection

    monkeypatch.setattr(library, "enlist", then_another_takes_one_out)
    job = library.jobs.start("fetch", "fetch_file")
    fetch_file._indexed(library, job, FileRequest("https://example.org/b", "b.md", index=False), folder / "b.md")
    job.end("done")
    assert library.collections()[0].removed == ("a.md", "b.md")


def test_a_secret_is_not_indexed(library: Library, local: Local) -> None:
    key = b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 64 + b"\n" + b"B" * 64 + b"\n-----END PRIVATE KEY-----\n"
    with FileServer({"/k": key}) as server:
        local(server.host)
        named = done(library, FileRequest(f"{server.url}/k", "id_rsa"))
        inside = done(library, FileRequest(f"{server.url}/k", "note.txt"))
    for job in (named, inside):
        assert job.result is not None
        assert (job.result["indexed"], "key" in job.result["reason"]) == (False, True)


def test_the_type_that_a_server_claims_means_nothing(library: Library, local: Local) -> None:
    """What a file is is told by its name and its bytes."""
    with FileServer({"/a": headed(b"\x7fELF\0\0\0", Content_Type="text/markdown")}) as server:
        local(server.host)
        job = done(library, FileRequest(f"{server.url}/a", "a.md"))
    assert job.result is not None and (job.result["indexed"], job.result["chunks"]) == (False, 0)


def test_a_request_that_was_tampered_with(library: Library, data: Path, local: Local) -> None:
    """Everything is checked again by the process that does it."""
    import sys

    local()
    for request in (
        {"type": "fetch_file", "url": "http://127.0.0.1/", "filename": "../../x"},
        {"type": "fetch_file", "url": "file:///etc/passwd", "filename": "x"},
        {"type": "other"},
        {"type": "fetch_repo", "url": "https://example.org/a", "include": "*", "strange": 1},
    ):
        job = library.jobs.queue("fetch", "fetch_file")
        told = json.dumps(request).encode()
        subprocess.run(
            [sys.executable, "-m", "findling.engine.library.fetching.process", str(data), job.id],
            input=told,
            timeout=60,
        )
        found = library.jobs.get(job.id)
        assert (found.status, bool(found.error)) == ("failed", True)
