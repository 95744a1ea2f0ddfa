"""Ranks files by the channels' evidence. Reads rows through the index reader, no files.

Values are normalised over the candidates of this query; no row of the index depends on a query or on a ref.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial

from msgspec import Struct

from findling.model import term_rows, tokenizer
from findling.model.rows import NO_NAMES, FileRow
from findling.search.analysis import QueryTerms, name_alone
from findling.search.keyword import KeywordHits, inverse_document_frequency, rarities
from findling.search.ranking import names, priors, sides, signals, votes
from findling.search.ranking.ranked_file import FileCosines, RankedFile, divide_by_best, put_in_order
from findling.search.symbol import Definition
from findling.store.protocols import Index

WINDOW = 4
"""Chunks on each side that share a window, in text as with vectors."""


class Evidence(Struct, frozen=True):
    """What the channels found for one query. ``cosines`` is None where there are no vectors."""

    keyword: KeywordHits
    definitions: Mapping[int, list[Definition]]
    cosines: Mapping[int, FileCosines] | None
    exact: Mapping[int, int] = {}
    """Entry -> the first line where the query's literal part stands."""
    asked_paths: Mapping[int, int] = {}
    """Entry -> the line that was asked for with its path, 0 for none, where the query is a path."""
    messages: Mapping[int, tuple[int, float]] = {}
    """Entry -> the line that says the query, and how much of it, where that may be a program's message."""
    exact_value: float = 1.0
    """What ``exact`` counts: more where the whole query is a text that few files hold."""


def rank(
    reader: Index,
    query: QueryTerms,
    files: Sequence[FileRow],
    evidence: Evidence,
    *,
    use: frozenset[str],
    with_priors: bool = True,
    near: names.Near | None = None,
) -> list[RankedFile]:
    """All ``files`` in order, best first, ties by path. ``use``: the signals that count. Names that the first files
    define are compared last, because that is slow: by meaning with ``near``, else by letters."""
    ranked = [RankedFile(file, definitions=list(evidence.definitions.get(file.blob_id, ()))) for file in files]
    if not ranked:
        return ranked
    rows = reader.terms(file.blob_id for file in files)
    _text(reader, query, ranked, rows)
    _passages(ranked, evidence.keyword)
    _names(query, ranked)
    _definitions(ranked)
    if name_alone(query.text):
        _asked_alone(ranked)
    for item in ranked:
        exact, asked = evidence.exact.get(item.file.entry_id, 0), evidence.asked_paths.get(item.file.entry_id)
        item.first_line = exact
        line, share = evidence.messages.get(item.file.entry_id, (0, 0.0))
        item.exact_line = asked or line or exact
        item.values["exact"] = evidence.exact_value if exact else 0.0
        item.values["asked_path"] = 0.0 if asked is None else 1.0
        item.values["message"] = share
    if evidence.cosines:
        _windows(ranked, evidence.cosines)
    if with_priors:
        _priors(query, ranked)
    _votes(reader, ranked, rows)
    for item in ranked:
        item.use = use
    put_in_order(ranked, ranked)
    if "name" in use:
        looked_at = names.compare(reader, query, ranked, partial(term_weights, reader, query), near)
        put_in_order(ranked, looked_at)
    sides.join(query.wants, ranked)
    return ranked


def _text(reader: Index, query: QueryTerms, ranked: Sequence[RankedFile], rows: Mapping[int, Sequence[int]]) -> None:
    manifest = reader.manifest
    assert manifest is not None
    total = max(1, manifest.files)
    means = signals.Lengths(
        max(1.0, manifest.body_terms / total),
        max(1.0, manifest.name_terms / total),
    )
    weighted = query.keys
    own = len(weighted)
    compounds = [tokenizer.term_key(compound) for compound in query.compounds]
    counts = reader.term_counts([*weighted, *compounds])
    if own == len(compounds) == 1 and counts[compounds[0]] and not any(counts[key] for key in weighted):
        weighted = {compounds[0]: next(iter(weighted.values()))}  # a name of several parts, typed as one word
    weighted.update((key, 1.0) for key in compounds if key not in weighted and counts[key])
    keys = list(weighted)
    weights = [weighted[key] * inverse_document_frequency(total, counts[key]) for key in keys]
    others = _synonyms(reader, query, keys)
    named = {tokenizer.term_key(term) for term in query.proper}
    proper = [key in named for key in keys[:own]]
    for item in ranked:
        file = item.file
        path = signals.path_words(file.own_path)
        row = rows.get(file.blob_id, ())
        found = term_rows.lookup(row, keys)
        in_path = [path.terms.get(key, 0) for key in keys]
        lengths = signals.Lengths(file.body_terms, file.name_terms)
        values = item.values
        values["file"], values["coverage"] = signals.bm25f(found, in_path, weights, lengths, means, path.length)
        held = signals.held(found[:own], in_path)
        stand_ins = term_rows.lookup(row, others)
        if any(count for count, _ in stand_ins):
            said = signals.with_synonyms(found, stand_ins, others.values())
            values["file"], _ = signals.bm25f(said, in_path, weights, lengths, means, path.length)
            held = signals.held(said[:own], in_path, held)
        item.held = held
        item.rare_coverage = signals.rare_coverage(held, weights[:own], proper)
    divide_by_best(ranked, "file")


def counts(reader: Index, query: QueryTerms) -> None:
    """Look up the counts that ranking will need, of all terms at once (for `Index.ahead`)."""
    others = [tokenizer.term_key(other) for all_others in query.synonyms.values() for other in all_others]
    reader.term_counts([*query.keys, *map(tokenizer.term_key, query.compounds), *others])


def _synonyms(reader: Index, query: QueryTerms, keys: Sequence[int]) -> dict[int, list[int]]:
    """Keys of synonyms that occur in the index, each with the places in ``keys`` of the terms it may stand for."""
    place = {key: at for at, key in enumerate(keys)}
    found: dict[int, list[int]] = {}
    for term, others in query.synonyms.items():
        for other in others:
            found.setdefault(tokenizer.term_key(other), []).append(place[tokenizer.term_key(term)])
    counts = reader.term_counts(found) if found else {}
    return {key: places for key, places in found.items() if counts[key]}


def term_weights(reader: Index, query: QueryTerms) -> dict[str, float]:
    """How much each term of a query counts: its weight times its rarity among the manifest's files."""
    rare = rarities(reader, query.terms)
    return {term: weight * rare[term] for term, weight in query.terms.items()}


def _passages(ranked: Sequence[RankedFile], keyword: KeywordHits) -> None:
    """The best chunk's BM25, and the best sum of a chunk and its neighbours."""
    # Of what is searched only: proposals come from other refs, earlier versions and deleted files, too.
    found = [keyword.chunks.get(item.file.entry_id) for item in ranked]
    best = max((max(chunks.values()) for chunks in found if chunks), default=0.0)
    for item, chunks in zip(ranked, found, strict=True):
        if not chunks:
            item.values["passage"] = item.values["passages"] = 0.0
            continue
        item.texts = {ordinal: score / best for ordinal, score in chunks.items()}
        item.values["passage"] = max(item.texts.values())
        item.values["passages"] = _best_window(item.texts)
    divide_by_best(ranked, "passages")


def _best_window(texts: Mapping[int, float]) -> float:
    """The highest sum over a chunk and its `WINDOW` neighbours on each side."""
    ordinals = sorted(texts)
    best = running = 0.0
    first = 0
    for ordinal in ordinals:
        running += texts[ordinal]
        while ordinal - ordinals[first] > 2 * WINDOW:
            running -= texts[ordinals[first]]
            first += 1
        best = max(best, running)
    return best


def _names(query: QueryTerms, ranked: Sequence[RankedFile]) -> None:
    matcher = signals.StemMatcher(query.words)
    share = query.brevity
    asked = {name.squashed: name.weight for name in query.names}
    for item in ranked:
        path = signals.path_words(item.file.own_path)
        item.values["stem"] = asked.get(path.squashed_stem, 0.0)
        item.values["path"] = share * matcher.share(path.stem)
        item.values["told"] = (1 - share) * item.values["passage"]


WHOLE = 0.8
"""What a type's only definition is worth."""


def _definitions(ranked: Sequence[RankedFile]) -> None:
    """The best definition per name asked for, shared among the files that define the name."""
    definers: dict[str, int] = {}
    for item in ranked:
        for asked in {definition.asked for definition in item.definitions if not definition.alike}:
            definers[asked] = definers.get(asked, 0) + 1
    for item in ranked:
        best: dict[str, float] = {}
        item.values["alike"] = max([found.strength for found in item.definitions if found.alike], default=0.0)
        exact = [definition for definition in item.definitions if not definition.alike]
        item.values["named"] = max([found.fit for found in exact], default=0.0)
        for definition in exact:
            strength = WHOLE * definition.strength / definers[definition.asked] ** 0.5
            best[definition.asked] = max(best.get(definition.asked, 0.0), strength)
        item.values["definition"] = min(1.0, sum(best.values()))


WORD = 0.5
"""How much a plain word counts as a name, because it may be a subject. With several parts, a capital or a scope it is a
name."""


def _asked_alone(ranked: Sequence[RankedFile]) -> None:
    """Set the signal `asked`: a question that is one name wants its definition, however many files mention it."""
    for item in ranked:
        exact = [(_alone(found), found.symbol.name_line) for found in item.definitions if not found.alike]
        item.values["asked"], item.asked_line = max(exact, key=lambda each: each[0], default=(0.0, 0))


def _alone(found: Definition) -> float:
    name = found.symbol.name
    is_type = found.fit == 1.0 and name[:1].isupper()
    if is_type or found.strength > 1 or len(tokenizer.parts(name)) > 1:
        return found.fit
    return WORD * found.fit * min(1.0, found.strength)


WINDOW_EXPONENT = 1.5
"""With it, a file half as near as the nearest counts a third: near the top, cosines lie close together. It does not
depend on which other files are compared, so candidates are ordered as they would be among all files."""

NEAR = 0.6
"""From this cosine on, the nearest passage is surely about what was asked. Below it, `window` counts less, in
proportion: if nothing is near, words tell more than who is nearest. It fits the bundled model; other models have mostly
higher cosines, for which nothing changes."""


def _windows(ranked: Sequence[RankedFile], cosines: Mapping[int, FileCosines]) -> None:
    for item in ranked:
        found = cosines.get(item.file.entry_id)
        if found is None or not len(found.own):
            continue
        item.cosines = found
        # a source file has one subject, which its windows show; a document has a subject in each section
        is_code = item.file.kind != "docs"
        item.window_cosine = float((found.window if is_code else found.own).max())
        item.best_cosine = float(found.own.max())
        if is_code:  # beside that, the words of a question that it lacks say nothing more
            item.values["coverage"] = 0.0
    highest = max(item.best_cosine for item in ranked)
    nearest = max(item.window_cosine for item in ranked)
    sure = min(1.0, max(0.0, nearest) / NEAR)
    for item in ranked:
        item.highest = highest
        if item.cosines is None:  # not embedded yet: its text stands in
            item.values["window"] = sure * (item.values["passage"] + item.values["passages"]) / 2
        else:
            share = max(0.0, item.window_cosine) / nearest if nearest > 0 else 0.0
            item.values["window"] = sure * share**WINDOW_EXPONENT


SURELY_DEFINED = 0.5
"""From this value of the signal `definition` on, a file is taken to define a name that was asked for."""


def _priors(query: QueryTerms, ranked: Sequence[RankedFile]) -> None:
    newest = priors.newest_versions(item.file.path for item in ranked)
    for item in ranked:
        flags: Set[str] = priors.path_flags(item.file.own_path) | ({"generated"} if item.file.generated else set())
        if item.file.kind == "code":  # history.py is no history
            flags -= {"changes"}
        asked_by_scope = any(found.strength > 1 and not found.alike for found in item.definitions)
        if priors.is_superseded(item.file.path, newest) and not asked_by_scope:
            flags |= {"superseded"}
        for flag in flags - query.wants:
            item.values[flag] = 1.0
        if ("test" in flags and "tests" in query.wants) or ("changes" in flags and "history" in query.wants):
            item.values["wanted"] = 1.0
        asked_for = min(1.0, item.values["definition"] / SURELY_DEFINED)
        for flag in priors.OF_PLACES & item.values.keys():  # who asks for a name wants it wherever it is defined
            item.values[flag] *= 1.0 - asked_for
        if "advice" in query.wants and item.file.kind == "docs":
            item.values["advice"] = 1.0


def _votes(reader: Index, ranked: Sequence[RankedFile], rows: Mapping[int, Sequence[int]]) -> None:
    has_vectors = any("window" in item.values for item in ranked)
    voices = [
        item.values["passage"] + (item.values["window"] if has_vectors else item.values["file"]) for item in ranked
    ]
    blobs = [item.file.blob_id for item in ranked]
    keys = reader.derived
    if new := [blob_id for blob_id in blobs if blob_id not in keys]:
        named = reader.defined_names(new)
        keys.update({blob_id: votes.name_keys(named.get(blob_id, NO_NAMES)) for blob_id in new})
    manifest = reader.manifest
    found = votes.votes(voices, blobs, keys, rows, reader.term_counts, manifest.files if manifest else 1)
    for item, value in zip(ranked, found, strict=True):
        item.values["votes"] = value
