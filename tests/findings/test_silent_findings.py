"""Findings of what goes wrong in silence: each program of tests/examples/silent, and of docs/findings, says in its
first line what is to be found where."""

import re
from pathlib import Path

import pytest

from gradbox.installation import FINDINGS_FOLDER
from tests.recordings.store import ROOT, kept_trace
from tests.support.explaining import ExplainedProgram, findings_of, record_programs
from tests.support.sampling import parameters_of_run

pytestmark = pytest.mark.slow

FOLDER = ROOT / "tests/examples/silent"
HEADER = re.compile(r"# (?P<kind>\w+) at (?P<line>\d+): (?P<names>.*)")
PROGRAMS = sorted(FOLDER.glob("*.py")) + [
    path for path in sorted(FINDINGS_FOLDER.glob("*.py")) if HEADER.match(path.read_text())
]


@pytest.fixture(scope="module", autouse=True)
def _recorded(request: pytest.FixtureRequest) -> None:
    record_programs(parameters_of_run(request, "path"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_finding_names_the_line_of_its_cause_and_what_takes_part(path: Path) -> None:
    header = HEADER.match(path.read_text())
    assert header is not None
    program = ExplainedProgram(path)
    for findings in program.findings.values():
        found = [finding for finding in findings if finding["kind"] == header["kind"]]
        assert int(header["line"]) in [finding["line"] for finding in found], str(program)
        finding = next(finding for finding in found if finding["line"] == int(header["line"]))
        assert all(part in finding["text"] for part in header["names"].split(", ")), finding["text"]
        assert finding["line"] in finding["lines"] and finding["chain"]
        said = [finding["what"], *(link["text"] for link in finding["chain"])]
        assert all(said) and not any(re.search(r"\{\w+\}|finding\.", text) for text in said), said


@pytest.mark.parametrize(
    ("branch", "line", "said"),
    [
        ("y = torch.sqrt(x)\nz = torch.where(x > 0, y, 0 * x)", 3, "on line 3 (`y = torch.sqrt(x)`)"),
        (
            "z = torch.where(x > 0, torch.sqrt(x), 0 * x)",
            3,
            "on line 3 (`z = torch.where(x > 0, torch.sqrt(x), 0 * x)`)",
        ),
    ],
)
def test_a_branch_that_where_does_not_take_is_named(branch: str, line: int, said: str) -> None:
    source = f"import torch\nx = torch.tensor([0.0, 4.0], requires_grad=True)\n{branch}\nz.sum().backward()\n"
    finding = findings_of(source)[0]
    assert (finding["kind"], finding["line"]) == ("nonfinite", line)
    assert f"the branch that where does not take is still computed, {said}" in finding["what"]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("eval_taken_back_before_the_forward", "eval_missing", "Line 21 (`net.train()`) puts `net` back into training"),
        ("eval_after_the_validation", "eval_missing", "`net` is in training there."),
        ("eval_held_until_the_next_epoch", "eval_never_left", "`net.eval()` on line 12 is not taken back before line "),
        ("eval_held_until_the_next_epoch", "eval_never_left", "iteration 2: `net.eval()`"),
        ("eval_held_while_nothing_is_recorded", "eval_never_left", "is not taken back before line 26 trains."),
        ("eval_left_after_validation_function", "eval_never_left", "From iteration 1 on"),
        ("eval_left_between_two_calls", "eval_never_left", "After line 21, `net` trains without dropout"),
    ],
)
def test_where_a_mode_begins_and_ends_is_told(name: str, kind: str, said: str) -> None:
    findings = findings_of((FOLDER / f"{name}.py").read_text())
    assert said in next(finding["text"] for finding in findings if finding["kind"] == kind)


def test_a_small_view_is_told_of_what_it_was_made_from() -> None:
    """Not of another view of the same memory, whichever had a name last."""
    findings = findings_of((FOLDER / "part_of_a_part_keeps_the_table.py").read_text())
    assert "it is a view of `table`" in findings[0]["what"]
    findings = findings_of((FOLDER / "name_given_to_a_part_of_itself.py").read_text())
    assert "it is a view of what `rows` meant before" in findings[0]["what"]


def test_an_unrecorded_write_is_not_laid_to_the_head_of_its_loop() -> None:
    findings = findings_of((FOLDER / "rows_of_an_array_scaled_in_a_dataset.py").read_text())
    assert [(finding["kind"], finding["line"]) for finding in findings] == [("shared_memory", 17)]
    assert "line 15: `values = self.table[k]` reads `self.table`" in findings[0]["text"]
    assert "in torch" not in findings[0]["text"] and "clone" not in findings[0]["text"]


WRITTEN_UNRECORDED = """import torch
weight = torch.ones(3, requires_grad=True)
scaled = weight * 2
squares = scaled * scaled
count = 0
for k in range(3000):
    count += k
    if k == 2500:
        scaled.add_(1)
        count -= 1
print(count)
squares.sum().backward()
"""


def test_a_saved_tensor_that_was_overwritten_unrecorded_is_laid_to_the_loop() -> None:
    finding = findings_of(WRITTEN_UNRECORDED)[0]
    assert (finding["kind"], finding["line"]) == ("saved_overwritten", 6)
    assert "An iteration of the loop on line 6 that was not recorded overwrote numbers" in finding["what"]
    assert "a statement that was not recorded writes `scaled`" in finding["text"]


DIVERGES = """import torch
w = torch.tensor([1.5], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.9)
mask = torch.tensor([0.0, float("-inf")])
for step in range(8):
    weights = (mask + 1).softmax(0)
    loss = (w ** 4).sum() * weights[0]
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_what_diverges_is_finite_until_the_first_operation_that_gave_an_infinity() -> None:
    """A loss of infinity comes a round before a gradient that is; the infinities of a mask were there before."""
    traced = kept_trace(DIVERGES)
    first = next(
        step
        for step in traced["steps"]
        if step["line"] == 7
        and any({"$f": "inf"} in row for fields in step["set"].values() for row in (fields.get("cells") or {}).values())
    )
    (finding,) = (one for one in findings_of(DIVERGES) if one["kind"] == "nonfinite")
    assert "until the result of line 7 is no longer finite" in finding["what"]
    assert finding["chain"][-1]["line"] == 7 and finding["chain"][-1]["step"] == first["i"]
    assert all(link["step"] < first["i"] for link in finding["chain"][:-1])


def test_a_second_step_says_what_the_first_hid() -> None:
    findings = findings_of((FOLDER / "data_clamp.py").read_text())
    (finding,) = (one for one in findings if one["kind"] == "wrong_gradient")
    assert "`a.grad` is [1, 2, −3]" in finding["what"] and "[3, 2, −6]" in finding["what"]


@pytest.mark.parametrize(
    "scenario, line, what",
    [
        ("chunk_and_cat", 8, "changed `x` too: `right` has been a view of `x`'s memory since line 4."),
        ("version_counter", 9, "changed `x` too: `flat` has been a view of `x`'s memory since line 5."),
        ("slice_follows", 9, "changed `first` too: `first` has been a view of `x`'s memory since line 4."),
        ("to_same_or_copy", 8, "changed `same` too: `x` and `same` have been two names of one tensor since line 4."),
        ("clone", 7, "changed `a` too: `c` and `a` have shared the same memory since line 5."),
        ("deepcopy", 6, "changed `box[0]` too: what line 6 stored there is the written tensor itself, not a copy."),
    ],
)
def test_shared_memory_names_the_views_and_the_line_that_made_them(scenario: str, line: int, what: str) -> None:
    findings = findings_of((ROOT / "scenarios" / f"{scenario}.py").read_text())
    (said,) = (one["what"] for one in findings if one["kind"] == "shared_memory" and one["line"] == line)
    assert said.endswith(what)


def test_views_of_one_memory_are_not_called_views_of_each_other() -> None:
    source = "import torch\nrow = (x := torch.zeros(2, 3))[0]\nflat = x.view(6)\ndel x\nflat[1] = 4.0\nprint(row)\n"
    (finding,) = findings_of(source)
    assert finding["what"].endswith(
        "changed `row` too: `flat` and `row` have been views of the same memory since line 3."
    )
