"""Runs a script in plain Python and keeps what torch says of its tensors at the end: `main`."""

import pickle
import runpy
import sys
from pathlib import Path

from tests.referee.torch_facts import facts


def main(target: str) -> None:
    """Run the script that the command line names, as the module `__main__`; its facts are pickled into `target`."""
    sys.argv[:] = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    namespace = runpy.run_path(sys.argv[0], run_name="__main__")
    Path(target).write_bytes(pickle.dumps(facts(namespace)))
