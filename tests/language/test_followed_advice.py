"""Advice is a claim: an edit made from the sentence after "do" fixes what the finding says, once for each variant of a
kind."""

import json
from pathlib import Path

import pytest

from gradbox.judged_fixes import JudgedRun, is_fixed
from gradbox.wire.findings import Finding, OutcomeSummary
from tests.language.fixing import explained, summary_of, trials
from tests.language.followed_advice import BY_HAND, OFFERED, OWN_PROGRAMS, Edits
from tests.recordings.store import kept_traces
from tests.support.sampling import every, sampled

ROOT = Path(__file__).parents[2]
HEAD = "import torch\nfrom torch import nn\n"

NOT_FOLLOWED = {
    "custom_function.output", "grad_none.cut_create_graph", "grad_none.cut_data", "grad_none.cut_numpy",
    "hook_misses.input_overwritten", "memory_held.ctx_kept", "no_graph", "no_graph.alone",
    "saved_overwritten.accumulated", "saved_overwritten.elsewhere", "shape_mismatch.unknown",
    "unexplained_error.device", "unexplained_error.history", "unexplained_error.leaf",
}  # fmt: skip
"""Variants that no program of the tests has."""

pytestmark = pytest.mark.slow


def variants_with_advice() -> set[str]:
    """The kinds, or kinds with variants, that have a sentence after "do"."""
    found = set()
    for path in (ROOT / "static/locales/findings").glob("*.json"):
        keys = [key for key in json.loads(path.read_text("utf-8"))["en"] if key.rpartition(".")[2] == "todo"]
        found |= {".".join(part for part in (path.stem, key.rpartition(".")[0]) if part) for key in keys}
    return found


def judged(source: str) -> JudgedRun:
    """A program, run and explained."""
    (recorded,) = kept_traces([source])
    return JudgedRun(explained([recorded])[0], summary_of(recorded))


def edited(source: str, edits: Edits) -> str:
    """A program with texts replaced, each of which it has once."""
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def test_every_sentence_is_followed_except_the_listed_ones() -> None:
    followed = {*BY_HAND, *OFFERED, *OWN_PROGRAMS}
    assert variants_with_advice() - followed == NOT_FOLLOWED
    assert followed <= variants_with_advice()


@pytest.mark.parametrize("variant", sampled([*BY_HAND, *OWN_PROGRAMS], every(6)))
def test_what_is_written_by_the_advice_fixes_what_is_said(variant: str) -> None:
    kind, _, name = variant.partition(".")
    if variant in BY_HAND:
        program, edits = BY_HAND[variant]
        source = (ROOT / f"tests/examples/{program}.py").read_text("utf-8")
    else:
        source, edits = HEAD + OWN_PROGRAMS[variant][0], OWN_PROGRAMS[variant][1]
    before, after = judged(source), judged(edited(source, edits))
    of_kind = [finding for finding in before.findings if finding.kind == kind]
    finding = next((each for each in of_kind if (each.variant or "") == name), of_kind[0])
    assert is_fixed(finding, before, after), (finding.todo, after.summary.text, [each.what for each in after.findings])


@pytest.mark.parametrize("variant", sampled([*OFFERED], every(12)))
def test_an_offered_fix_follows_the_advice(variant: str) -> None:
    kind, _, name = variant.partition(".")
    program = OFFERED[variant]
    _, tried = trials({program: (ROOT / f"tests/examples/{program}.py").read_text("utf-8")})
    offered = [run.finding.variant for run in tried if run.is_offered and run.finding.kind == kind]
    assert offered and (not name or name in offered), variant


def summary(**fields: object) -> OutcomeSummary:
    return OutcomeSummary.model_validate({"finished": True, "text": "Runs.", **fields})


NEVER_MOVES = Finding(
    kind="parameter_detached", severity="warning", variant="not_given", line=3, lines=[3], step=2, names=["w", "opt"],
    text="", what="", why="", todo="", chain=[],
)  # fmt: skip


def test_what_moves_nothing_fixes_nothing() -> None:
    before = JudgedRun([NEVER_MOVES], summary(moved=["copy.weight"]))
    assert not is_fixed(NEVER_MOVES, before, JudgedRun([], summary(moved=["copy.weight"])))
    assert is_fixed(NEVER_MOVES, before, JudgedRun([], summary(moved=["copy.weight", "net.weight"])))


def test_the_same_loss_in_every_round_fixes_nothing() -> None:
    losses = [{"name": "loss", "values": [3.0, 2.0, 1.0]}]
    before = JudgedRun([NEVER_MOVES], summary(losses=losses))
    assert not is_fixed(NEVER_MOVES, before, JudgedRun([], summary(losses=losses, moved=["net.weight"])))
    other = [{"name": "loss", "values": [3.0, 1.5, 0.5]}]
    assert is_fixed(NEVER_MOVES, before, JudgedRun([], summary(losses=other, moved=["net.weight"])))


def test_what_had_no_gradient_has_to_get_one() -> None:
    finding = NEVER_MOVES.model_copy(update={"kind": "grad_none", "variant": "cut_detach"})
    before = JudgedRun([finding], summary())
    assert not is_fixed(finding, before, JudgedRun([], summary(reached=["v"])))
    assert is_fixed(finding, before, JudgedRun([], summary(reached=["v", "w"])))
