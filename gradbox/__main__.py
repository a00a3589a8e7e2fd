"""`python -m gradbox` is the command `gradbox`."""

import sys

from gradbox.command import main

sys.exit(main())
