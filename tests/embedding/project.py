"""A small project that can be searched by meaning, and its configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILES = {
    "src/http/client.py": '''\
"""Sending requests over the network."""


class Client:
    def retry_failed(self, request, attempts=3):
        """Send a failed request again, with a growing pause."""
        return request
''',
    "src/billing/invoice.py": '''\
def total_with_tax(lines):
    """The sum of all lines of an invoice, value added tax included."""
    return sum(line.amount for line in lines)
''',
    "docs/network.md": "# When the network is down\n\nRequests that fail are sent again three times.\n",
    "docs/invoices.md": "# Invoices\n\nTax is added to the sum of all lines.\n",
}
QUESTION = "how are failed requests sent again when the network is down"


def make(root: Path) -> Path:
    for path, text in FILES.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (root / ".git").mkdir(exist_ok=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return root


def configure(root: Path, **semantic: Any) -> None:
    folder = root / ".findling"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"semantic": semantic}), encoding="utf-8")
