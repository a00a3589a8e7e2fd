"""The sentences beside torch's exceptions: each is chosen for the exception that torch really raises, and says its
facts.

They are for errors that no finding explains.
"""

import json
import subprocess
import textwrap
from typing import Any

import pytest
import torch

from tests.conftest import ROOT
from tests.recordings.store import kept_traces
from tests.support.explaining import NODE, findings_of_traces

PROGRAMS = {
    "not_leaf_flag": "y = x * 2; y.requires_grad = False",
    "not_leaf_optimized": "torch.optim.SGD([x * 2], lr=0.1)",
    "grad_shape": "x.grad = torch.ones(2)",
    "item": "x.item()",
    "truth": "bool(x)",
    "index": "x[5]",
    "dimension": "x.sum(2)",
    "": "raise RuntimeError('something else')",
}
GLOSSES = """
import { errorGlossText } from "./static/js/program/program_messages.ts";
import { errorGloss } from "./static/js/program/error_gloss.ts";
import { bundledLocale } from "./static/js/words/locale.ts";
const errors = JSON.parse(process.argv[1]);
const texts = (error) => ["en", "zh"].map((language) => errorGlossText(error, bundledLocale(language).say));
console.log(JSON.stringify(errors.map((error) => [errorGloss(error)?.key ?? "", ...texts(error)])));
"""


def raised(program: str) -> dict[str, str]:
    with pytest.raises(Exception) as caught:
        exec(textwrap.dedent(program), {"torch": torch, "x": torch.ones(3, requires_grad=True)})
    return {"type": type(caught.value).__name__, "message": str(caught.value)}


def test_each_exception_has_its_sentence_in_both_languages() -> None:
    errors = [raised(program) for program in PROGRAMS.values()]
    command = [*NODE, "--input-type=module", "-e", GLOSSES, json.dumps(errors)]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows: list[list[Any]] = json.loads(out)
    for name, error, (key, english, chinese) in zip(PROGRAMS, errors, rows, strict=True):
        assert key == name, error
        assert bool(english) == bool(chinese) == bool(key)
        assert "{" not in english + chinese and english != f"gloss_{key}" != chinese
    texts = {name: row[1] for name, row in zip(PROGRAMS, rows, strict=True)}
    assert "Index 5 is out of range" in texts["index"]
    assert "this one has 3" in texts["item"]
    assert "valid ones are -1 to 0" in texts["dimension"]


def test_glossed_errors_have_no_finding_that_explains_them() -> None:
    start = "import torch\nx = torch.ones(3, requires_grad=True)\n"
    traces = kept_traces([start + program.replace("; ", "\n") for program in PROGRAMS.values()])
    assert all(recorded["outcome"]["status"] == "raised" for recorded in traces)
    kinds = {finding["kind"] for findings in findings_of_traces(traces) for finding in findings}
    assert kinds <= {"unexplained_error"}
