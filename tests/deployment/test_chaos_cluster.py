"""What `make chaos-cluster` takes for broken: each fault that it looks for is found where there is one, and only
there."""

import ast
from typing import Any

import pytest

from gradbox.language.determinism import nondeterministic_names
from gradbox.language.tree import SyntaxNodes
from tests.chaos_cluster import hosts, programs
from tests.chaos_cluster.disruptions import Disruption
from tests.chaos_cluster.report import faults, lines
from tests.chaos_cluster.users import Press, Presses, judge, judge_save

BUSY = {"error": {"code": "busy", "message": "come back later", "retry_after": 2}}
PROGRAM = programs.create(programs.QUICK, 7)


def trace(text: str, status: str = "finished", source: str = PROGRAM.source) -> dict[str, Any]:
    return {"program": {"source": source}, "steps": [{"log": [{"text": text}]}], "outcome": {"status": status}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, trace("token 7\n14\n"), "finished"),
        (200, trace("token 7\n", "lost"), "lost"),
        (200, trace("", "lost"), "lost"),
        (200, trace("token 7\n"), "wrong"),
        (200, trace("token 8\n16\n"), "wrong"),
        (200, trace("token 8\n", "lost"), "wrong"),
        (200, trace("token 7\n14\n", source="print('token 8')"), "wrong"),
        (200, trace("token 7\n", "crashed"), "odd"),
        (429, BUSY, "busy"),
        (503, BUSY, "unavailable"),
        (503, {}, "odd"),
        (500, BUSY, "odd"),
    ],
)
def test_an_answer_is_classified_by_status_and_body(status: int, body: Any, kind: str) -> None:
    assert judge(PROGRAM, status, body)[0] == kind


def test_a_save_is_answered_by_an_id_or_a_refusal() -> None:
    assert [judge_save(status, BUSY)[0] for status in (201, 429, 503, 200)] == ["saved", "busy", "unavailable", "odd"]


def test_programs_say_which_they_are_and_some_give_another_result_each_time() -> None:
    assert len({programs.create(kind, 7).source for kind, _ in programs.KINDS}) == len(programs.KINDS)
    changing = [
        bool(nondeterministic_names(SyntaxNodes(ast.parse(kind.format(token="", n=1, twice=2)))))
        for kind, _ in programs.KINDS
    ]
    assert changing == [False, True, False, True, False]


def results(*presses: Press) -> Presses:
    """Of a run that is all right, and these presses."""
    good = [Press("finished", "", at, at + 0.5) for at in (1.0, 12.0, 32.0)]
    return Presses([*good, *presses], {"id": PROGRAM})


def disruption(**fields: Any) -> Disruption:
    return Disruption("drain cpu-1", 10.0, 11.0, 15.0, **fields)


@pytest.mark.parametrize(
    ("presses", "disruptions", "missing", "said"),
    [
        (results(Press("lost", "", 9.0, 14.0), Press("busy", "full", 9.0, 10.0)), [disruption()], [], ""),
        (
            results(Press("unanswered", "TimeoutError", 9.0, 99.0)),
            [disruption()],
            [],
            "1 presses were not answered: TimeoutError",
        ),
        (results(Press("wrong", "printed", 9.0, 9.5)), [disruption()], [], "got the answer of another program"),
        (results(Press("odd", "500", 9.0, 9.5)), [disruption()], [], "got an odd answer: 500"),
        (results(), [disruption()], ["id at 1: 404"], "1 saved programs are missing: id at 1: 404"),
        (results(), [disruption(problem="it lives on")], [], "drain cpu-1: it lives on"),
        (results(Press("lost", "", 9.0, 14.0, worker="cpu-1")), [disruption()], [], "1 of its runs were lost"),
        (results(), [Disruption("kill", 33.0)], [], "kill: no run succeeded within 30 s"),
        (Presses(), [], [], "nothing was run"),
    ],
)
def test_the_report_names_the_promise_that_was_broken(
    presses: Presses, disruptions: list[Disruption], missing: list[str], said: str
) -> None:
    found = faults(presses, disruptions, missing)
    assert said in found[0] if said else not found
    assert len(found) <= 1


def test_times_in_the_report_count_from_the_disruption() -> None:
    row = next(
        line for line in lines(results(Press("lost", "", 9.0, 14.0)), [disruption()], 60.0) if line.startswith("drain")
    )
    assert row.split()[2:] == ["2.5", "s", "2.5", "s", "4.0", "s", "1", "0", "4.0", "s"]


def test_a_machine_without_network_namespaces_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(hosts.NotPermitted, match="no ip on this machine"), hosts.hosts(1):
        pass
