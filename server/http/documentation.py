"""Serves the documentation site under /docs, if `make docs` has built it."""

import base64
import hashlib
import re
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Response
from fastapi.staticfiles import StaticFiles

from server import PROJECT_FOLDER
from server.wire.problems import ProblemError

DOCUMENTATION_FOLDER = PROJECT_FOLDER / "var/docs"
NOT_BUILT = "the documentation is not built on this server; `make docs` builds it"

_INLINE_SCRIPT_PATTERN = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def is_documentation_built(folder: Path = DOCUMENTATION_FOLDER) -> bool:
    return (folder / "index.html").is_file()


@cache
def documentation_policy(page: str) -> str:
    """The Content-Security-Policy of a page, which allows only the inline scripts that this page contains."""
    digests = {
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in _INLINE_SCRIPT_PATTERN.findall(page)
    }
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in sorted(digests))])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


class DocumentationFiles(StaticFiles):
    """The files of the site. Raises ProblemError (404) if a file is missing or the site is not built."""

    def __init__(self, folder: Path = DOCUMENTATION_FOLDER) -> None:
        super().__init__(directory=folder, check_dir=False, html=True)
        self._folder = folder

    async def check_config(self) -> None:
        """Whether the folder is there is asked at each request: the site may be built while the server runs."""

    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        if not is_documentation_built(self._folder):
            raise ProblemError(404, "no_documentation", NOT_BUILT)
        response = await super().get_response(path, scope)
        if str(response.headers.get("content-type", "")).startswith("text/html"):
            page = (self._folder / "index.html").read_text("utf-8")  # the theme has the same scripts in each
            response.headers["Content-Security-Policy"] = documentation_policy(page)
        return response
