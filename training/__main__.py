"""``python -m training STEP``: mine, filter, teach, distil, train, merge, evaluate, export, calibrate."""

from __future__ import annotations

import sys
from importlib import import_module

STEPS = {
    "mine": "training.mine",
    "filter": "training.leaks",
    "teach": "training.teach",
    "distil": "training.distil",
    "train": "training.train",
    "merge": "training.merge",
    "evaluate": "training.evaluate",
    "export": "training.export",
    "calibrate": "training.calibrate",
}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in STEPS:
        sys.exit(f"usage: python -m training {{{','.join(STEPS)}}} …\n\n{__doc__}")
    import_module(STEPS[sys.argv[1]]).main(sys.argv[2:])


if __name__ == "__main__":
    main()
