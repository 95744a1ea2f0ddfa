"""``python -m findling`` is the command line."""

import os
import sys

# ``-m`` puts the working folder in front of every library; what lies in somebody's project is no module of ours.
if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):  # noqa: PTH100, PTH120
    del sys.path[0]

from findling.faces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
