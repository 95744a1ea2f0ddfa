"""findling as a retriever of LangChain: `pip install findling[langchain]`.

retriever = FindlingRetriever(path=".", limit=5)
documents = retriever.invoke("where is the retry policy?")
"""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from findling import Engine


class FindlingRetriever(BaseRetriever):
    """The places of a folder that answer a question, best first, each a document with its path and lines."""

    path: str = "."
    limit: int = 5
    _engine: Engine = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        self._engine = Engine.open(self.path)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self._engine.search(query, limit=self.limit)
        return [
            Document(
                page_content=hit.body or hit.snippet,
                metadata={
                    "source": hit.path,
                    "start_line": hit.start_line,
                    "end_line": hit.end_line,
                    "score": hit.score,
                },
            )
            for hit in found.hits
        ]
