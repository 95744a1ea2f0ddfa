"""The client of Ollama against a server process: good answers, and every way in which one is not had."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from ollama_process import OllamaProcess

from findling.config import Config
from findling.config.options import Embedding, Semantic
from findling.embedding import open_embedder
from findling.embedding.providers.ollama import BATCH_TEXTS, OllamaClient, available, forget_availability
from findling.model.errors import EmbedderUnavailable

MODEL = "nomic-embed-text"


def client(ollama: OllamaProcess, model: str = MODEL, **options: object) -> OllamaClient:
    return OllamaClient(ollama.url, model, **options)  # type: ignore[arg-type]


def answers(asked: OllamaClient) -> bool:
    """Whether the server is taken to answer: what was seen there is believed for a while."""
    try:
        asked.digest()
    except EmbedderUnavailable:
        return False
    return True


def texts(count: int) -> list[str]:
    return [f"text number {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(count)]


def embedded(ollama: OllamaProcess) -> list[list[str]]:
    return [request["texts"] for request in ollama.requests()]


# --- good answers ------------------------------------------------------------------------------------------------


def test_batches_of_32_in_order_and_of_length_one(ollama: OllamaProcess) -> None:
    """S4-40, S4-8, S4-11: Available, Embed and EmbedBatch."""
    asked = client(ollama)
    assert answers(asked)
    made = asked.embed_batch(texts(70))
    assert made.rows.shape == (70, 768)
    assert not made.failed
    assert np.linalg.norm(made.rows, axis=1) == pytest.approx(1)
    assert [len(batch) for batch in embedded(ollama)] == [BATCH_TEXTS, BATCH_TEXTS, 6]
    assert asked.embed(texts(70)[40]) == pytest.approx(made.rows[40])
    assert all(request["options"]["num_ctx"] == 2048 for request in ollama.requests())


def test_an_older_server_is_asked_one_by_one_and_normalised(ollama: OllamaProcess) -> None:
    new = client(ollama).embed_batch(texts(3)).rows
    ollama.behave(old=True)
    asked = client(ollama)
    old = asked.embed_batch(texts(3))
    assert old.rows == pytest.approx(new)
    asked.embed_batch(texts(2))
    paths = [request["path"] for request in ollama.requests()[1:]]
    assert paths == ["/api/embed", *["/api/embeddings"] * 5]  # what it does not know is asked for once


def test_the_digest_is_part_of_the_fingerprint(ollama: OllamaProcess) -> None:
    config = Config(semantic=Semantic(ollama_url=ollama.url))
    first = open_embedder("ollama", MODEL, config=config).fingerprint
    assert (first.provider, first.model, first.dimensions, first.prefix_scheme) == ("ollama", MODEL, 768, "nomic-1")
    assert first.version == client(ollama).digest()
    ollama.behave(digests={"nomic-embed-text:latest": "another"})
    forget_availability()
    assert open_embedder("ollama", MODEL, config=config).fingerprint.id != first.id


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("all-minilm", "", ""),
    ],
)
def test_texts_get_the_prefixes_of_the_model(ollama: OllamaProcess, model: str, query: str, document: str) -> None:
    """S4-48: the vector of a question is kept."""
    embedder = open_embedder("ollama", model, config=Config(semantic=Semantic(ollama_url=ollama.url)), verify=False)
    before = len(ollama.requests())
    embedder.encode_query("where")
    embedder.encode(["here", " "])
    assert embedded(ollama)[before:] == [[f"{query}where"], [f"{document}here"]]
    embedder.encode_query("where")
    assert len(ollama.requests()) == before + 2  # the same question is not embedded again


# --- failures ----------------------------------------------------------------------------------------------------


def test_nobody_there(ollama: OllamaProcess) -> None:
    """S1-44, S4-8, S4-40."""
    asked = client(ollama)
    ollama.stop()
    assert not answers(asked)
    assert not available(ollama.url)
    with pytest.raises(EmbedderUnavailable, match=f"Cannot connect to Ollama at {ollama.url}") as failure:
        asked.digest()
    assert failure.value.reason == "unreachable"
    ollama.start()
    assert not answers(asked)  # for half a minute what was seen is believed
    forget_availability()
    assert answers(asked)


def test_somebody_else_there(ollama: OllamaProcess) -> None:
    ollama.behave(refuse=True)
    assert not available(ollama.url)


def test_a_model_that_is_not_pulled(ollama: OllamaProcess) -> None:
    config = Config(semantic=Semantic(ollama_url=ollama.url))
    with pytest.raises(EmbedderUnavailable, match="ollama pull bge-m3") as failure:
        open_embedder("ollama", "bge-m3", config=config)
    assert failure.value.reason == "missing"
    with pytest.raises(EmbedderUnavailable, match="ollama pull bge-m3"):
        client(ollama, "bge-m3").embed("text")


def test_a_busy_server_is_asked_up_to_three_times_more(ollama: OllamaProcess) -> None:
    """S1-16, S1-31, D5."""
    ollama.behave(statuses=[503, 429, 503])
    assert client(ollama).embed("text").shape == (768,)
    assert len(ollama.requests()) == 4
    ollama.behave(statuses=[503] * 4)
    with pytest.raises(EmbedderUnavailable, match="busy"):
        client(ollama).embed("text")
    assert len(ollama.requests()) == 8
    ollama.behave(statuses=[503] * 4)
    with pytest.raises(EmbedderUnavailable, match="busy"):
        client(ollama, max_retries=1).embed("text")  # maxRetries caps all
    assert len(ollama.requests()) == 10


def test_a_slow_query_is_retried_once(ollama: OllamaProcess) -> None:
    """S1-16, S4-50, D5."""
    ollama.behave(delays=[1.0])
    assert client(ollama, timeout_s=0.3).embed("text").shape == (768,)
    ollama.behave(delays=[1.0, 1.0])
    asked = client(ollama, timeout_s=0.3)
    with pytest.raises(EmbedderUnavailable, match=r"longer than 0\.3 s") as failure:
        asked.embed("text")
    assert failure.value.reason == "timeout"
    assert asked.problem is failure.value


def test_a_slow_batch_is_retried_in_halves_and_then_skipped(
    ollama: OllamaProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """S1-16, S1-28, S4-50: and what is skipped is logged."""
    ollama.behave(delays=[2.0, 0.0, 2.0])
    with caplog.at_level(logging.WARNING, "findling"):
        made = client(ollama, timeout_s=0.1, batch_texts=4).embed_batch(texts(8))
    (told,) = [record.fields for record in caplog.records]  # type: ignore[attr-defined]
    assert (told["operation"], told["error_type"]) == ("embed", "timeout")
    assert told["message"] == "no answer within 0.6 s for 2 texts"
    assert [len(batch) for batch in embedded(ollama)] == [4, 2, 2, 4]
    assert sorted(made.failed) == [2, 3]
    assert not made.rows[2:4].any()
    assert made.rows[[0, 1, 4, 5, 6, 7]].any(axis=1).all()


def test_one_bad_text_costs_no_other_its_vector(ollama: OllamaProcess) -> None:
    ollama.behave(bad_word="poison")
    mixed = texts(40)
    mixed[17] = "poison in it"
    made = client(ollama).embed_batch(mixed)
    assert list(made.failed) == [17]
    assert "NaN" in made.failed[17]
    assert np.flatnonzero(~made.rows.any(axis=1)).tolist() == [17]


def test_a_text_that_is_too_long_is_halved_alone(ollama: OllamaProcess) -> None:
    ollama.behave(context_chars=300)
    long = "word " * 200
    made = client(ollama).embed_batch([*texts(3), long])
    assert not made.failed
    sent = embedded(ollama)
    assert max(len(batch) for batch in sent[1:]) <= 2
    assert sent[-1] == [long[:250]]
    assert made.rows[3] == pytest.approx(client(ollama).embed(long[:250]))
    ollama.behave(context_chars=10)  # not even a short one fits: then it is not the length
    with pytest.raises(EmbedderUnavailable, match="context length"):
        client(ollama).embed("eleven chars and more")


@pytest.mark.parametrize("how", ["count", "json", "words", "cut"])
def test_a_malformed_answer_is_not_retried_and_its_body_is_logged(
    how: str, ollama: OllamaProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """S1-16, S1-29, D5."""
    ollama.behave(malformed=how)
    asked = client(ollama)
    with caplog.at_level(logging.WARNING, "findling"):
        made = asked.embed_batch(texts(3))
    assert sorted(made.failed) == [0, 1, 2]
    assert len(ollama.requests()) == 1
    if how != "cut":  # of that one nothing arrived
        (record,) = [record for record in caplog.records if record.getMessage() == "semantic.error"]
        assert "embeddings" in record.fields["message"]  # type: ignore[attr-defined]
    ollama.behave(malformed="")
    assert not asked.embed_batch(texts(3)).failed


@pytest.mark.parametrize("how", ["nan", "zero"])
def test_a_vector_that_is_none_fails_its_text_alone(how: str, ollama: OllamaProcess) -> None:
    ollama.behave(malformed=how)
    made = client(ollama).embed_batch(texts(3))
    assert list(made.failed) == [2]
    assert made.rows[:2].any(axis=1).all() and not made.rows[2].any()


def test_when_no_text_can_be_embedded_it_is_not_the_texts(ollama: OllamaProcess) -> None:
    ollama.behave(malformed="count")
    with pytest.raises(EmbedderUnavailable, match="no longer embeds any text"):
        client(ollama).embed_batch(texts(100))
    assert len(ollama.requests()) == 1


def test_other_dimensions_than_configured(ollama: OllamaProcess) -> None:
    """D7, S2-52."""
    config = Config(semantic=Semantic(ollama_url=ollama.url), embedding=Embedding(provider="ollama", dimensions=512))
    with pytest.raises(EmbedderUnavailable) as failure:
        open_embedder("ollama", MODEL, dimensions=512, config=config)
    assert failure.value.message == ("semantic.modelDim is 512, but model 'nomic-embed-text' returns 768 dimensions.")
    assert failure.value.remedy == "Set modelDim to 768 or choose another model."
    assert failure.value.reason == "dimensions"
    asked = client(ollama)
    asked.embed("text")
    ollama.behave(malformed="length")
    with pytest.raises(EmbedderUnavailable, match="returns 767 dimensions"):
        asked.embed_batch(texts(2))


def test_it_goes_away_in_the_middle(ollama: OllamaProcess) -> None:
    embedder = open_embedder("ollama", MODEL, config=Config(semantic=Semantic(ollama_url=ollama.url)))
    embedder.encode_query("known")
    ollama.stop()
    with pytest.raises(EmbedderUnavailable, match="Is Ollama running"):
        embedder.encode(texts(40))
    assert embedder.problem is not None
    assert embedder.encode_query("known").any()
    with pytest.raises(EmbedderUnavailable, match="Is Ollama running"):
        embedder.encode_query("unknown")


def test_a_deadline_is_kept_and_what_was_done_counts(ollama: OllamaProcess) -> None:
    import time

    ollama.behave(delays=[0.0, 30.0])
    began = time.monotonic()
    made = client(ollama).embed_batch(texts(64), deadline=began + 1.0)
    assert 0 < len(made.rows) < 64
    assert made.rows.any(axis=1).all() and not made.failed
    assert len(client(ollama).embed_batch(texts(3), deadline=began).rows) == 0


def test_another_machine_is_not_asked_unless_it_was_named() -> None:
    forget_availability()
    elsewhere = OllamaClient("http://ollama.example:11434", MODEL)
    assert not answers(elsewhere)
    with pytest.raises(EmbedderUnavailable):
        elsewhere.embed("text")
