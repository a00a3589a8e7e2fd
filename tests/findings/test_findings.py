"""Programs that raise, each with the kind of its finding, the names that it says, and the lines any of which is the
cause."""

import re
import sys
from pathlib import Path

import pytest

from gradbox.installation import FINDINGS_FOLDER
from tests.support.explaining import ExplainedProgram, record_programs
from tests.support.sampling import parameters_of_run

ROOT = Path(__file__).parents[2]
RAISING = re.compile(r"# (\w+): (.+)")
PROGRAMS = sorted((ROOT / "tests/examples/findings").glob("*.py")) + [
    path for path in sorted(FINDINGS_FOLDER.glob("*.py")) if RAISING.match(path.read_text())
]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _recorded(request: pytest.FixtureRequest) -> None:
    record_programs(parameters_of_run(request, "path"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_first_finding_says_why_it_raised(path: Path) -> None:
    lines = path.read_text().splitlines()
    expected = RAISING.fullmatch(lines[0])
    assert expected is not None
    if path.stem == "grad_none_list_of_params_updated" and sys.version_info >= (3, 12):
        pytest.skip("comprehensions have no frame there, and what their names stand for is not recorded")
    causes = [number for number, line in enumerate(lines, 1) if line.endswith("# cause")]
    program = ExplainedProgram(path)
    finding = program.findings["en"][0]
    assert finding["kind"] == expected[1], str(program)
    assert finding["line"] in causes and finding["line"] in finding["lines"], str(program)
    for name in expected[2].split():
        assert name in finding["text"], finding["text"]
    assert "undefined" not in finding["text"] and not re.search(r"\{\w+\}|\b[tsnoc]\d+\b`", finding["text"])
