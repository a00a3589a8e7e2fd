"""Writes packages that do harm when they are imported, and leave a file that says that they were."""

from collections.abc import Iterable
from pathlib import Path

STARTS_A_THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(600,), name="{name}-bg", daemon=True).start()
"""
ENDS_ITS_THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(0.2,)).start()\n"
PRINTS = """
import logging, os, sys
print("{name} prints"); print("{name} prints", file=sys.stderr); sys.__stderr__.write("{name} prints")
os.write(1, b"{name} prints"); os.write(2, b"{name} prints"); os.system("echo {name} prints; echo {name} prints >&2")
logging.basicConfig(); logging.warning("{name} prints")
"""
FORKS = "import os\nos.fork()\n"
FORKS_BELOW_OS = "import posix\nposix.fork()\n"
FORKS_WITH_A_TERMINAL = "import os\nos.forkpty()\n"
ABORTS = "import os\nos.abort()\n"
KINDS = {
    "starts a thread": STARTS_A_THREAD,
    "raises ImportError": "raise ImportError('{name} is broken')\n",
    "raises RuntimeError": "raise RuntimeError('{name} is broken')\n",
    "exits": "import sys\nsys.exit('{name} is broken')\n",
    "is interrupted": "raise KeyboardInterrupt\n",
    "prints": PRINTS,
    "forks": FORKS,
    "aborts": ABORTS,
}
"""What a package does when it is imported."""

ENTRY_POINTS = "".join(
    f"[{group}]\nhostile = {{name}}:hook\n"
    for group in (
        "torch.backends",
        "torch_dynamo_backends",
        "networkx.backends",
        "networkx.backend_info",
        "networkx.plugins",
    )
)


def write_module(folder: Path, name: str, code: str) -> None:
    """A module of a package, by its full name, that runs this code on import after it has noted which process imports
    it.

    In the code, {name} stands for its name.
    """
    *packages, last = name.split(".")
    path = folder.joinpath(*packages, f"{last}.py") if packages else folder / name / "__init__.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    note = folder / "imported" / name
    note.parent.mkdir(exist_ok=True)
    noting = f"import os\nwith open({str(note)!r}, 'a') as note:\n    print(os.getpid(), file=note)\n"
    path.write_text(noting + code.replace("{name}", name))


def write_distribution(folder: Path, name: str) -> None:
    """What says that version 9.9 of the package is installed, with entry points."""
    metadata = folder / f"{name}-9.9.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS.replace("{name}", name))


def write_crowd(folder: Path, names: Iterable[str]) -> None:
    """A package of each name; one after the other does what `KINDS` lists."""
    kinds = list(KINDS.values())
    for at, name in enumerate(names):
        write_module(folder, name, kinds[at % len(kinds)])
        write_distribution(folder, name)


def imported(folder: Path) -> dict[str, set[int]]:
    """The modules that were imported, and by which processes."""
    notes = folder / "imported"
    return {note.name: {int(pid) for pid in note.read_text().split()} for note in sorted(notes.iterdir())}
