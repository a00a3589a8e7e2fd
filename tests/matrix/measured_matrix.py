"""The matrix as one server of a run of the tests has measured it: another that is given it need not measure for ten
seconds."""

import os
import shutil
from pathlib import Path

import pytest

from server.matrix.service import FILE_NAME


def keep_measurement(folder: Path, factory: pytest.TempPathFactory) -> None:
    """Keep the measurement that a server has stored in its folder, for all processes of this run."""
    put(folder / FILE_NAME, shared_folder(factory))


def give_measurement(folder: Path, factory: pytest.TempPathFactory) -> None:
    """Copy the kept measurement, if there is one, into the folder of a server that has none."""
    kept = shared_folder(factory) / FILE_NAME
    if kept.exists():
        put(kept, folder)


def put(file: Path, folder: Path) -> None:
    """Copy into a folder where others may read at the same time."""
    draft = folder / f"{FILE_NAME}.{os.getpid()}"
    shutil.copyfile(file, draft)
    draft.replace(folder / file.name)


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Of this run of the tests, with all its processes."""
    folder = factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
