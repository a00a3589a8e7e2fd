"""A finding does not depend on how a program is written: a sample of `make respelled`, and what its comparison sees."""

import ast

import pytest

from tests.findings.respellings import WAYS, difference, differences, programs, said_of, same_statements
from tests.support.sampling import every, sampled

pytestmark = pytest.mark.slow

SAMPLE = 6
"""Programs for each way, about; `make respelled` has all."""

PROGRAM = """import torch
from torch import nn
net = nn.Linear(2, 1)
total = 0
for value in range(2):
    loss = net(torch.ones(1, 2)).sum()
    total = total + loss
print(total)"""


def test_there_are_more_than_three_hundred_programs() -> None:
    assert len(programs()) > 300


@pytest.mark.parametrize("way", WAYS)
def test_every_way_changes_the_text_and_keeps_the_statements(way: str) -> None:
    spelled = WAYS[way](PROGRAM)
    assert spelled.source != PROGRAM and ast.parse(spelled.source)
    known = [origin for origin in spelled.origins if origin is not None]
    if way == "nn otherwise":
        assert "torch.nn.Linear" in spelled.source
    assert sorted(known) == [*range(8)]


def test_what_is_lost_new_moved_and_reworded_is_told_apart() -> None:
    finding = {
        "kind": "no_step",
        "variant": None,
        "severity": "warning",
        "line": 6,
        "what": "`a` on line 6.",
        "todo": "",
    }
    here = said_of([finding], PROGRAM, same_statements(PROGRAM, PROGRAM))
    assert difference("p", "way", here, here) is None
    lost = difference("p", "way", here, [])
    assert lost is not None and lost.lost == here and not lost.new
    moved = difference("p", "way", here, said_of([{**finding, "line": 7}], PROGRAM))
    assert moved is not None and [(a[3], b[3]) for a, b in moved.moved] == [(6, 7)]
    reworded = difference("p", "way", here, said_of([{**finding, "what": "`b` is none."}], PROGRAM))
    assert reworded is not None and len(reworded.reworded) == 1
    new = difference("p", "way", [], here)
    assert new is not None and new.new == here


@pytest.mark.parametrize("way", ["function", "method", "closure"])
def test_what_is_found_at_the_end_is_found_at_the_end_of_main(way: str) -> None:
    chosen = ["silent/slice_keeps_batch", "silent/parameter_made_in_forward"]
    ((_, compared, differing),) = differences({name: programs()[name] for name in chosen}, [way])
    assert compared == len(chosen) and differing == []


@pytest.mark.parametrize("way", sampled([*WAYS], every(2)))
def test_the_same_is_found_in_another_spelling(way: str) -> None:
    chosen = [*programs().items()][[*WAYS].index(way) :: len(programs()) // SAMPLE]
    ((_, compared, differing),) = differences(dict(chosen), [way])
    assert compared > SAMPLE // 2
    assert not [each for each in differing if each.lost or each.new or each.moved], differing
