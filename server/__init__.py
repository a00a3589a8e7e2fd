"""Gradbox: run a PyTorch program, record what it did to memory and to its gradients, and draw it."""

import os
from pathlib import Path

from gradbox import __version__

__all__ = ["HELPER_ENVIRONMENT", "PACKAGE_FOLDERS", "PROJECT_FOLDER", "__version__"]

PROJECT_FOLDER = Path(__file__).parent.parent
"""Where the folders `server`, `static`, `templates` and `scenarios` are."""

PACKAGE_FOLDERS = [
    str(Path(folder).absolute()) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder
]
"""Where Python looks for packages besides its own folders; the processes that the server starts look there, too."""

HELPER_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": os.pathsep.join([str(PROJECT_FOLDER), *PACKAGE_FOLDERS]),
    **{name: os.environ[name] for name in ("PYTHONDONTWRITEBYTECODE",) if name in os.environ},
}
"""The environment of the processes that assemble, draw and propose, without the server's own settings."""
