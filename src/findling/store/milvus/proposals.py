"""One Milvus server: rows of sparse weights and of bits, the best of them for a question, and its failures as
findling's own errors. The only module that knows how to connect. It knows nothing of what the rows stand for.

All indexes are exact: an inverted index for weights, a scan for bits.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from findling.model import errors
from findling.outbound import metrics

try:
    from pymilvus import DataType, MilvusClient
    from pymilvus.exceptions import MilvusException
except ImportError as _missing:
    from findling.model.installing import install_command

    raise errors.ConfigError(
        "Milvus needs a package that is not installed.", remedy=f"Run: {install_command('findling[milvus]')}"
    ) from _missing

if TYPE_CHECKING:
    from findling.store.protocols import Ask, Row

QUESTION_S: Final = 2.0
"""How long a question waits for an answer; then it is asked elsewhere."""

WRITE_S: Final = 60.0

REST_S: Final = 10.0
"""For how long questions are not put to a server that failed."""

MOST: Final = 16_384
"""Rows that Milvus gives at once."""

_ROWS: Final = 500
"""Rows that are sent together."""

_NO_PINGS: Final = {"grpc.keepalive_time_ms": 2**31 - 1, "grpc.keepalive_permit_without_calls": False}
"""Every call has a deadline, so nothing is gained by asking between whether the server lives; gRPC servers end a
connection that is asked every 10 s, which is the client's default."""

_Result = TypeVar("_Result")

logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # what fails is raised, in our words


@lru_cache(maxsize=1 << 18)
def dimension_of(field: int, term: str) -> int:
    """The dimension that stands for a term of a field. Two terms may share one: scores are upper bounds then."""
    digest = hashlib.blake2b(f"{field}\n{term}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little") % (2**32 - 1)


class Milvus:
    """A server. For any threads. Connects when it is first asked.

    Its collections begin with the name of a store, so that several stores can share one server.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self._token = token
        self._client: MilvusClient | None = None
        self._opening = threading.Lock()
        self._rests_until = 0.0

    def _asked(self, ask: Callable[[MilvusClient], _Result], timeout_s: float) -> _Result:
        """What a server answers. Raises `IndexUnavailable` where it does not."""
        if time.monotonic() < self._rests_until and timeout_s == QUESTION_S:  # who writes tries again
            raise errors.IndexUnavailable(f"Milvus at {self.url} did not answer a moment ago.")
        try:
            with self._opening:
                if self._client is None:
                    self._client = MilvusClient(
                        uri=self.url, token=self._token, timeout=timeout_s, grpc_options=_NO_PINGS
                    )
            found = ask(self._client)
            self._rests_until = 0.0
            return found
        except MilvusException as error:
            self._rests_until = time.monotonic() + REST_S
            text = str(error.message).strip().split("\n", 1)[0].rstrip(".")
            why = "" if text.startswith("<") else f": {text}"  # what gRPC prints of an object
            raise errors.IndexUnavailable(f"Milvus at {self.url} does not answer{why}.") from error

    # --- questions ------------------------------------------------------------------------------------------------

    def find(self, store: str, asks: Sequence[Ask]) -> list[list[tuple[int, float]]]:
        """The best rows of each question, (unit, score) of weights and (unit, bits that differ) of bits; all are asked
        at once. Everything that was written before is seen. Raises `IndexUnavailable`."""

        def send(client: MilvusClient) -> list[list[tuple[int, float]]]:
            sent = [
                client.search(
                    f"{store}_{ask.kind}",
                    [self._vector(ask.query)],
                    filter=f"view in {list(ask.views)}",
                    limit=min(ask.limit, MOST),
                    consistency_level="Strong",
                    timeout=QUESTION_S,
                    _async=True,
                )
                for ask in asks
            ]
            return [[(int(hit["id"]), float(hit["distance"])) for hit in each.result()[0]] for each in sent]

        with metrics.timed("milvus"):
            return self._asked(send, QUESTION_S)

    @staticmethod
    def _vector(query: bytes | Mapping[tuple[int, str], float]) -> Any:
        if isinstance(query, bytes):
            return query
        weights: dict[int, float] = {}
        for (field, term), weight in query.items():
            place = dimension_of(field, term)
            weights[place] = weights.get(place, 0.0) + weight
        return weights

    # --- rows -----------------------------------------------------------------------------------------------------

    def make(self, store: str, kinds: Mapping[str, int]) -> bool:
        """Make collections that are not there: kind -> its number of bits, 0 for weights. Whether one was made."""

        def make(client: MilvusClient) -> bool:
            there = set(client.list_collections())
            made = False
            for kind, bits in kinds.items():
                if f"{store}_{kind}" not in there:
                    self._make(client, f"{store}_{kind}", bits)
                    made = True
            return made

        return self._asked(make, WRITE_S)

    @staticmethod
    def _make(client: MilvusClient, name: str, bits: int) -> None:
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("unit", DataType.INT64, is_primary=True)
        schema.add_field("item", DataType.INT64)  # what is deleted as one
        schema.add_field("view", DataType.INT64)
        index = MilvusClient.prepare_index_params()
        if bits:
            schema.add_field("vector", DataType.BINARY_VECTOR, dim=bits)
            index.add_index("vector", index_type="BIN_FLAT", metric_type="HAMMING")
        else:
            schema.add_field("vector", DataType.SPARSE_FLOAT_VECTOR)
            index.add_index("vector", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        client.create_collection(name, schema=schema, index_params=index, timeout=WRITE_S)

    def put(self, store: str, kind: str, view: int, rows: Iterable[Row]) -> None:
        """Write rows of a view; what is there under their units is replaced."""
        left = iter(rows)
        while some := list(islice(left, _ROWS)):
            data = [
                {"unit": unit, "item": item, "view": view, "vector": self._vector(vector)}
                for unit, item, vector in some
            ]
            self._asked(
                partial(MilvusClient.upsert, collection_name=f"{store}_{kind}", data=data, timeout=WRITE_S), WRITE_S
            )

    def delete(self, store: str, kind: str, items: Sequence[int]) -> None:
        for start in range(0, len(items), _ROWS):
            only = f"item in {list(items[start : start + _ROWS])}"
            self._asked(
                partial(MilvusClient.delete, collection_name=f"{store}_{kind}", filter=only, timeout=WRITE_S), WRITE_S
            )

    def check(self) -> None:
        """Raises `IndexUnavailable` where the server does not answer."""
        self._asked(lambda client: client.list_collections(timeout=QUESTION_S), QUESTION_S)

    def close(self) -> None:
        with self._opening:
            client, self._client = self._client, None
        if client is not None:
            client.close()
