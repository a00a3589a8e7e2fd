"""Turns the project's Markdown documents into sources of the site, with addresses and links of the site."""

import posixpath
import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

ROOT_DOCUMENTS = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LIMITATIONS.md", "SECURITY.md")
PICTURE_SUFFIXES = (".svg", ".png", ".webp", ".gif")
DECISIONS_FOLDER = "docs/decisions"
INDEX_OF_FOLDER = {DECISIONS_FOLDER: "decisions/index.md", "docs/findings": "findings/index.md"}

_LINK_PATTERN = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE_PATTERN = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def document_addresses(root: Path) -> dict[str, str]:
    """Return each document's address on the site, by its path in the project.

    root: of the project
    """
    addresses = {name: name.lower() for name in ROOT_DOCUMENTS}
    addresses["README.md"] = "index.md"
    for path in sorted((root / "docs").rglob("*.md")):
        name = path.relative_to(root).as_posix()
        addresses[name] = name.removeprefix("docs/")
    return addresses


class MarkdownSources:
    """Writes documents into the folder that the site is built from.

    root: of the project
    out: that folder
    find_page: returns the address of the page for another file of the project, such as a scenario's program; if it
        returns None, the link becomes plain text
    """

    def __init__(self, root: Path, out: Path, find_page: Callable[[str], str | None] = lambda _: None) -> None:
        self._root, self._out, self._find_page = root, out, find_page
        self._addresses = document_addresses(root)

    def write_documents(self) -> None:
        """Write all documents, and an index of the decisions. Findings have pages of their own."""
        for name, address in self._addresses.items():
            if name != "README.md" and not name.startswith("docs/findings/"):
                self.write(address, self.with_site_links((self._root / name).read_text("utf-8"), name, address))
        decisions = [name for name in self._addresses if name.startswith(DECISIONS_FOLDER)]
        lines = ["# Decisions", "", "Why some things are as they are, each in a page.", "", "```{toctree}"]
        lines += [":titlesonly:", "", *(PurePosixPath(name).stem for name in decisions), "```", ""]
        self.write("decisions/index.md", "\n".join(lines))

    def write(self, address: str, text: str) -> None:
        """Write one source.

        address: its path in the folder
        """
        path = self._out / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def with_site_links(self, text: str, name: str, address: str) -> str:
        """Return a document's text with links to the site's pages.

        name: its path in the project
        address: on the site
        """
        parts, end = [], 0
        for fence in _FENCE_PATTERN.finditer(text):  # leave code alone
            parts += [self._replace_links(text[end : fence.start()], name, address), fence.group()]
            end = fence.end()
        return "".join([*parts, self._replace_links(text[end:], name, address)])

    def _replace_links(self, text: str, name: str, address: str) -> str:
        def replace(match: re.Match[str]) -> str:
            mark, words, target = match.groups()
            path, hash_mark, anchor = target.partition("#")
            if not path or "://" in target or target.startswith("mailto:"):
                return match.group()
            known = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            there, page = self._source_address(known), self._find_page(known)
            if there is None and page is None:
                return words
            relative = posixpath.relpath(there or page or ".", posixpath.dirname(address) or ".")
            if there is None:  # Sphinx would take it for a source and look for it
                return f'<a href="{relative}">{words}</a>'
            return f"{mark}[{words}]({relative}{hash_mark}{anchor})"

        return _LINK_PATTERN.sub(replace, text)

    def _source_address(self, name: str) -> str | None:
        """Return the address of a project file among the sources; a picture is copied there."""
        if name in self._addresses:
            return self._addresses[name]
        if name in INDEX_OF_FOLDER:
            return INDEX_OF_FOLDER[name]
        path = self._root / name
        if path.suffix in PICTURE_SUFFIXES and path.is_file():
            copy = self._out / "pictures" / name.replace("/", "-")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            return copy.relative_to(self._out).as_posix()
        return None
