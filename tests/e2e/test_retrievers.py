"""The retrievers in `examples` answer within the real frameworks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_examples import CLIENT, EXAMPLES

pytestmark = pytest.mark.e2e

QUESTION = "where are pages fetched?"

PROGRAMS = {
    "langchain": f"from langchain_retriever import FindlingRetriever as R; (d, *_) = R().invoke({QUESTION!r}); "
    "print(d.metadata['source'], 'def fetch' in d.page_content)",
    "llama_index": f"from llama_index_retriever import FindlingRetriever as R; (n, *_) = R().retrieve({QUESTION!r}); "
    "print(n.node.metadata['path'], 'def fetch' in n.get_content())",
}


@pytest.mark.parametrize("framework", PROGRAMS)
def test_a_retriever_answers_within_its_framework(framework: str, tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    code = f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); {PROGRAMS[framework]}"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.stdout == "client.py True\n", found.stderr
