"""Assaults on what reads programs and traces: findings, fixes, checks of gradients, pasted texts, files in memory, pictures."""

import json

from tests.assault.attackers import Assault, ask
from tests.assault.programs import (
    CIRCLE,
    CROWDED,
    CROWDED_FILES,
    FORGED_CHECK,
    INDEX_COPIES,
    LONG_NAME,
    NOTEBOOK,
    OVERWRITTEN,
    QUOTED_BLANKS,
)

ADDRESSES = 8


def numbered(assault: Assault, source: str, n: int) -> str:
    """The program with a number that it has at no other playing."""
    return source.replace("{n}", str(assault.seed + n))


def explained_runs(assault: Assault) -> None:
    """Runs with their findings: of a thousand lines that have one each, of a name of 60 KB, of a circle of nodes."""
    sources = [INDEX_COPIES, LONG_NAME, CIRCLE, CROWDED]

    def post(n: int) -> int:
        body = {"source": numbered(assault, sources[n % len(sources)], n), "explain": True}
        return ask(assault.server, "POST", "/api/runs", body, n % ADDRESSES)[0]

    assault.repeat(3, post)


def many_fixes(assault: Assault) -> None:
    """Fixes of ever other programs, each of which runs up to five programs and starts a process."""

    def post(n: int) -> int:
        body = {"source": numbered(assault, OVERWRITTEN, n), "kind": "saved_overwritten", "line": 4}
        return ask(assault.server, "POST", "/api/fixes", body, n % ADDRESSES)[0]

    assault.repeat(4, post)


def forged_checks(assault: Assault) -> None:
    """Checks of gradients of programs that write 8 MB of steps in place of a check."""

    def post(n: int) -> int:
        body = {"source": numbered(assault, FORGED_CHECK, n)}
        return ask(assault.server, "POST", "/api/gradient-checks", body, n % ADDRESSES)[0]

    assault.repeat(3, post)


def hostile_pastes(assault: Assault) -> None:
    """Notebooks and quoted blanks as long as a program may be."""
    sources = [NOTEBOOK, QUOTED_BLANKS]

    def post(n: int) -> str:
        body = {"source": numbered(assault, sources[n % len(sources)], n)}
        status, answer = ask(assault.server, "POST", "/api/runs", body, n % ADDRESSES)
        return str(json.loads(answer)["outcome"]["status"]) if status == 200 else str(status)

    assault.repeat(2, post)


def crowded_files(assault: Assault) -> None:
    """Programs that write thousands of files until their memory is full, one at a time: two would keep both workers busy."""

    def post(n: int) -> str:
        body = {"source": numbered(assault, CROWDED_FILES, n)}
        status, answer = ask(assault.server, "POST", "/api/runs", body, n % ADDRESSES)
        return str(json.loads(answer)["outcome"]["status"]) if status == 200 else str(status)

    assault.repeat(1, post)


def circling_graphs(assault: Assault) -> None:
    """Saved traces whose nodes lead in a circle, or have hundreds of tensors at a step, and pictures of them."""
    sources = [CIRCLE, CROWDED]

    def get(n: int) -> str:
        body = {"source": numbered(assault, sources[n % len(sources)], n)}
        status, answer = ask(assault.server, "POST", "/api/scenarios", body, n % ADDRESSES)
        if status not in (200, 201):
            return str(status)
        kind = ("svg?step=2", "svg?view=loom", "card.png")[n // 2 % 3]
        path = f"/s/{json.loads(answer)['id']}.{kind}"
        return f"picture: {ask(assault.server, 'GET', path, None, n % ADDRESSES)[0]}"

    assault.repeat(2, get)
