"""``python -m findling`` is the command line."""

import sys

from findling.cli import main

if __name__ == "__main__":
    sys.exit(main())
