"""Where the recordings of a repeated region are sent: a folder, a TensorBoard writer's run, or a wandb run."""

import os
import re
import sys
from pathlib import Path
from typing import Any

from gradbox.run import Run

MAX_RECORDINGS = 50
"""The most recordings of one repeated region; after these the program goes on unrecorded."""


def check_destination(to: Any) -> None:
    """Raise TypeError if recordings can't be sent to this object, OSError if a folder's parent is missing."""
    if isinstance(to, str | os.PathLike):
        if not Path(to).absolute().parent.is_dir():
            raise FileNotFoundError(2, "there is no such folder", str(Path(to).parent))
    elif not (is_tensorboard_writer(to) or is_wandb_run(to)):
        raise TypeError(f"to: a folder, TensorBoard's SummaryWriter or a run of wandb, not {type(to).__name__}")


def is_tensorboard_writer(to: Any) -> bool:
    return hasattr(to, "add_text") and hasattr(to, "log_dir")


def is_wandb_run(to: Any) -> bool:
    return "wandb" in sys.modules and callable(getattr(to, "log", None))


def send_run(run: Run, to: Any, name: str, number: int) -> str:
    """Send a recording and return a sentence that says where it is now.

    TensorBoard shows no HTML, so the picture is a file in its folder and the text names the findings and the file.
    Raises OSError, RuntimeError.

    name: of the region
    number: of the recording
    """
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-") or "region"
    file_name = f"{stem}-{number}.html"
    if isinstance(to, str | os.PathLike):
        Path(to).mkdir(exist_ok=True)
        return str(run.save(Path(to) / file_name))
    if is_tensorboard_writer(to):
        folder = Path(to.log_dir) / "gradbox"
        folder.mkdir(parents=True, exist_ok=True)
        path = run.save(folder / file_name)
        to.add_text(f"gradbox/{name or 'region'}", f"```\n{run.explain()}\n```\n\n`{path}`", number)
        return str(path)
    to.log({f"gradbox/{name or 'region'}": sys.modules["wandb"].Html(run.page())}, commit=False)
    return "the run of wandb"
