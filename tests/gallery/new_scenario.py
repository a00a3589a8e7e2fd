"""Starts a scenario of the gallery: `python -m tests.gallery.new_scenario NAME` writes its two files, if they are not
there, and serves it, anew at each change."""

import re
import sys
from pathlib import Path

from server.gallery.scenarios import GALLERY_SECTIONS
from tests.gallery import dev

FOLDER = dev.ROOT / "scenarios"

PROGRAM = """\
import torch

x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
y = x.detach()

y[0] = 8.0
print(x)
"""

CARD = """\
order = 1
# one of {threads}
thread = "{thread}"
prints = \"\"\"
tensor([8., 2., 4.], requires_grad=True)
\"\"\"
source = ""
# as `python -m server explain --json scenarios/{name}.py` tells them
findings = ["shared_memory"]
# what its reader would type or paste: first lines of errors, words in both languages
symptoms = []

[en]
title = "{title}"
question = "?"
look_at = "y[0] = 8.0 writes into the storage that x reads."

[zh]
title = ""
question = ""
look_at = ""
"""


def write_scenario(folder: Path, name: str) -> list[Path]:
    """Write the files of a scenario that are not there yet, which are returned. Raises ValueError for a bad name."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"{name!r} is no name of a scenario: small letters, digits and _, a letter first")
    card = CARD.format(
        threads=", ".join(GALLERY_SECTIONS),
        thread=GALLERY_SECTIONS[0],
        name=name,
        title=name.replace("_", " ").capitalize(),
    )
    written = []
    for path, text in ((folder / f"{name}.py", PROGRAM), (folder / f"{name}.toml", card)):
        if not path.exists():
            path.write_text(text, "utf-8")
            written.append(path)
    return written


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("make scenario NAME: which one?")
    name = sys.argv[1]
    try:
        written = write_scenario(FOLDER, name)
    except ValueError as error:
        sys.exit(str(error))
    for path in written:
        print(f"{path.relative_to(dev.ROOT)}: written", flush=True)
    print(f"http://127.0.0.1:8000/?s={name}", flush=True)
    dev.serve("8000")


if __name__ == "__main__":
    main()
