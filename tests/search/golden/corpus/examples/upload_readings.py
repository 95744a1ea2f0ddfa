"""Upload a CSV file of readings through the gateway."""

from __future__ import annotations

import csv
import sys

from skerry import HttpClient


def main(path: str, token: str) -> None:
    client = HttpClient("gateway.example.org", token)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print(client.request("POST", "/readings", rows))


if __name__ == "__main__":
    main(*sys.argv[1:3])
