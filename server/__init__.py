"""Gradbox: run a PyTorch program, record what it did to memory and to its gradients, and draw it."""

import os
from pathlib import Path

from gradbox import __version__

__all__ = ["HELPER_ENVIRONMENT", "PACKAGE_FOLDERS", "PROJECT_FOLDER", "__version__"]

PROJECT_FOLDER = Path(__file__).parent.parent
"""The folder that contains `server`, `static`, `templates` and `scenarios`."""

PACKAGE_FOLDERS = [
    str(Path(folder).absolute()) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder
]
"""Folders besides Python's own in which packages are found, also by the processes that the server starts."""

HELPER_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": os.pathsep.join([str(PROJECT_FOLDER), *PACKAGE_FOLDERS]),
    **{name: os.environ[name] for name in ("PYTHONDONTWRITEBYTECODE",) if name in os.environ},
}
"""The environment of the processes that assemble, draw and propose. It lacks the server's settings."""
