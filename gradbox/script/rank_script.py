"""What a rank runs in the place of the user's script: it records that one, or runs it as it is."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # else our own files would be modules without a package
    from gradbox.script.recorded_script import main_of_rank

    main_of_rank()
