"""Makes docs/library.md of docs/library.toml: which scenarios lead on from a snippet, a confusion or a question.

`python -m tests.gallery.library` writes it.
"""

import tomllib
from pathlib import Path

from server.gallery.scenarios import load_scenarios

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/library.md"
SOURCE = ROOT / "docs/library.toml"
HEADINGS = {
    "confusions": ("What people get wrong most", "confusion"),
    "snippets": ("Snippets of articles", "snippet"),
    "questions": ("Questions from public threads", "question"),
}


def read_library() -> dict[str, dict[str, list[str]]]:
    """The scenarios' names by part and row."""
    return tomllib.loads(SOURCE.read_text("utf-8"))


def page() -> str:
    """docs/library.md. Raises KeyError for a scenario that is not there."""
    titles = {scenario.name: scenario.text["en"]["title"] for scenario in load_scenarios(ROOT / "scenarios")}
    library = read_library()
    lines = [
        "# Where the library leads",
        "",
        "Scenarios of the gallery, found from three sides. Made by `python -m tests.gallery.library` of",
        "`docs/library.toml`.",
    ]
    for part, (heading, column) in HEADINGS.items():
        lines += ["", f"## {heading}", "", f"| {column} | scenarios |", "|---|---|"]
        for row, names in library[part].items():
            links = ", ".join(f"[{titles[name]}](../scenarios/{name}.py)" for name in names)
            lines.append(f"| {row} | {links} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
