"""``python -m gnomon.cli``."""

import sys

from gnomon.cli import main

sys.exit(main())
