"""``python -m visual_search`` is the command ``visual-search``."""

import sys

from visual_search.cli.main import main

sys.exit(main())
