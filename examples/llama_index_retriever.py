"""findling as a retriever of LlamaIndex: `pip install findling[llama-index]`.

retriever = FindlingRetriever(".", limit=5)
nodes = retriever.retrieve("where is the retry policy?")
"""

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from findling import Engine


class FindlingRetriever(BaseRetriever):
    """The places of a folder that answer a question, best first, each a node with its path and lines."""

    def __init__(self, path: str = ".", limit: int = 5) -> None:
        super().__init__()
        self._engine = Engine.open(path)
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._engine.search(query_bundle.query_str, limit=self._limit)
        return [
            NodeWithScore(
                node=TextNode(
                    text=hit.body or hit.snippet,
                    metadata={"path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line},
                ),
                score=hit.score,
            )
            for hit in found.hits
        ]
