"""The fake server read by Ollama's official client, which nobody here wrote: it says what Ollama says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import ollama as official
import pytest
from ollama_process import OllamaProcess

from findling.embedding.providers.ollama import OllamaClient, forget

MODEL = "nomic-embed-text"
TEXTS = ["the first text", "another text", "the last one"]


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaProcess]:
    process = OllamaProcess()
    yield process
    process.stop()


@pytest.fixture
def theirs(server: OllamaProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[official.Client]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name)
    forget()
    yield official.Client(host=server.url, timeout=10)
    server.behave(old=False, statuses=[], malformed="", context_chars=0, bad_word="")


def refused(theirs: official.Client, model: str = MODEL) -> tuple[int, str]:
    with pytest.raises(official.ResponseError) as failure:
        theirs.embed(model, TEXTS)
    return failure.value.status_code, failure.value.error


def test_vectors_are_the_same_to_both(server: OllamaProcess, theirs: official.Client) -> None:
    found = theirs.embed(MODEL, TEXTS)
    assert found.model == MODEL
    assert np.array(found.embeddings) == pytest.approx(
        OllamaClient(server.url, MODEL).embed_batch(TEXTS).rows, abs=1e-6
    )
    assert np.linalg.norm(found.embeddings, axis=1) == pytest.approx(1)
    assert theirs.embed(MODEL, TEXTS[0]).embeddings == [found.embeddings[0]]
    assert theirs.embed(MODEL, []).embeddings == []


def test_the_older_way_gives_one_vector_of_any_length(server: OllamaProcess, theirs: official.Client) -> None:
    server.behave(old=True)
    row = np.array(theirs.embeddings(MODEL, TEXTS[0]).embedding)
    assert np.linalg.norm(row) > 1.5
    assert row / np.linalg.norm(row) == pytest.approx(OllamaClient(server.url, MODEL).embed(TEXTS[0]), abs=1e-6)
    assert refused(theirs)[0] == 404


def test_models_are_listed_with_their_digests(server: OllamaProcess, theirs: official.Client) -> None:
    listed = {model.model: model for model in theirs.list().models}
    one = listed[f"{MODEL}:latest"]
    assert one.digest == OllamaClient(server.url, MODEL).digest()
    assert one.size and one.modified_at and one.details and one.details.format == "gguf"


def test_refusals_have_ollamas_statuses_and_words(server: OllamaProcess, theirs: official.Client) -> None:
    assert refused(theirs, "bge-m3") == (404, "model 'bge-m3' not found")
    server.behave(context_chars=5)
    assert refused(theirs) == (400, "the input length exceeds the context length")
    server.behave(context_chars=0, bad_word="another")
    assert refused(theirs) == (400, "embedding contains NaN or Inf values")
    server.behave(bad_word="", statuses=[503])
    status, words = refused(theirs)
    assert status == 503 and words.startswith("server busy, please try again.")
    server.behave(statuses=[500])
    assert refused(theirs)[0] == 500


def test_an_answer_that_is_cut_off_is_no_answer(server: OllamaProcess, theirs: official.Client) -> None:
    import httpx

    server.behave(malformed="cut")
    with pytest.raises(httpx.RemoteProtocolError):
        theirs.embed(MODEL, TEXTS)


def test_nobody_there_is_the_clients_own_error(theirs: official.Client) -> None:
    with pytest.raises(ConnectionError, match="Failed to connect to Ollama"):
        official.Client(host="http://127.0.0.1:9").embed(MODEL, TEXTS)
