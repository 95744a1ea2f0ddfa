"""``python -m training STEP``: mine, filter, teach, distil, train, merge, evaluate, export, calibrate.

Every step computes with one thread of the linear algebra, whatever the environment says: how many there are decides in
which order numbers are added, and so the last digits of a table. The teacher has threads of its own, which do not.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from findling.model.errors import FindlingError

THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Read by the libraries when numpy is first imported, so that it must be set before."""

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
    os.environ |= THREADS
    try:
        import_module(STEPS[sys.argv[1]]).main(sys.argv[2:])
    except (FindlingError, ValueError, FileNotFoundError) as error:
        sys.exit(f"training {sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
