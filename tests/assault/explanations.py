"""Assaults on what reads programs and traces: findings, fixes, checks of gradients, comparisons, pasted texts, files,
pictures."""

import json

from tests.assault.attackers import Assault, ask, numbered
from tests.assault.programs import (
    ALL_LINES_DIFFER,
    CIRCLE,
    COMPLEX_CELLS,
    CROWDED,
    CROWDED_FILES,
    FORGED_CHECK,
    FORGED_ROWS,
    INDEX_COPIES,
    LONG_INPUT,
    LONG_NAME,
    MANY_NAMES_AT_MANY_STEPS,
    NAMES_OF_ALL,
    NOTEBOOK,
    OVERWRITTEN,
    QUOTED_BLANKS,
    SHARED_BY_THOUSANDS,
)

ADDRESSES = 8


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
    """Checks of gradients of programs that write 8 MB of steps in place of a check, or a check of 8 MB."""
    sources = [FORGED_CHECK, FORGED_ROWS]

    def post(n: int) -> int:
        body = {"source": numbered(assault, sources[n % len(sources)], n)}
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
    """Programs that write thousands of files until their memory is full, one at a time: two would keep both workers
    busy."""

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


def compared_programs(assault: Assault) -> None:
    """Comparisons of programs that differ everywhere: in each line, in hundreds of names, in circles of nodes."""
    sources = [NAMES_OF_ALL, ALL_LINES_DIFFER, CIRCLE, CROWDED]

    def post(n: int) -> str:
        source = sources[n // 2 % len(sources)]
        sides = {side: {"source": numbered(assault, source, 2 * n + k)} for k, side in enumerate(("left", "right"))}
        return f"comparison: {ask(assault.server, 'POST', '/api/compare', sides, n % ADDRESSES)[0]}"

    assault.repeat(2, post)


def compared_names(assault: Assault) -> None:
    """Comparisons of programs with thousands of names, saved and new ones, and their pictures."""
    sources = [SHARED_BY_THOUSANDS, MANY_NAMES_AT_MANY_STEPS]

    def post(n: int) -> str:
        ids = []
        for k in range(2):
            source = numbered(assault, sources[n % 2], 2 * n + k)
            status, answer = ask(assault.server, "POST", "/api/scenarios", {"source": source}, n % ADDRESSES)
            if status not in (200, 201):
                return f"saved: {status}"
            ids.append(json.loads(answer)["id"])
        kind = ("json", "svg", "html")[n // 2 % 3]
        path = f"/compare.{kind}?left={ids[0]}&right={ids[1]}"
        return f"{kind}: {ask(assault.server, 'GET', path, None, n % ADDRESSES)[0]}"

    assault.repeat(2, post)


def long_inputs(assault: Assault) -> None:
    """Runs that read as much input as is taken, and runs that are given more than that."""

    def post(n: int) -> int:
        body = {"source": numbered(assault, LONG_INPUT, n), "input": "x\n" * (5_000 if n % 4 else 5_000_000)}
        return ask(assault.server, "POST", "/api/runs", body, n % ADDRESSES)[0]

    assault.repeat(3, post)


def matrix_pages(assault: Assault) -> None:
    """The matrix in every situation and form, from a server that has not measured it yet, and programs of cells."""
    tensors, memories, modes = (
        ("leaf", "node", "plain"),
        ("contiguous", "strided"),
        ("grad", "no_grad", "inference_mode"),
    )

    def get(n: int) -> int:
        page = f"/matrix?tensor={tensors[n % 3]}&memory={memories[n // 3 % 2]}&mode={modes[n // 6 % 3]}"
        cell = f"/matrix/clone.handle.{tensors[n % 3]}.{memories[n // 3 % 2]}.{modes[n // 6 % 3]}"
        path = (page, "/matrix.json", "/matrix.csv", cell, f"/matrix/none{n}")[n % 5]
        return ask(assault.server, "GET", path, None, n % ADDRESSES, {"Accept-Language": ("en", "zh")[n % 2]})[0]

    assault.repeat(4, get)


def large_answers(assault: Assault) -> None:
    """Answers to a question of the course, and saved programs run once more, whose traces are large to read."""

    def post(n: int) -> str:
        source = numbered(assault, COMPLEX_CELLS, n)
        if n % 2:
            return (
                f"answer: {ask(assault.server, 'POST', '/course/names/answers', {'source': source}, n % ADDRESSES)[0]}"
            )
        status, answer = ask(assault.server, "POST", "/api/scenarios", {"source": source}, n % ADDRESSES)
        if status not in (200, 201):
            return f"saved: {status}"
        path = f"/api/scenarios/{json.loads(answer)['id']}/rerun"
        return f"run again: {ask(assault.server, 'POST', path, {}, n % ADDRESSES)[0]}"

    assault.repeat(3, post)
