"""``python -m gnomon``."""

import sys

from gnomon.cli import main

sys.exit(main())
