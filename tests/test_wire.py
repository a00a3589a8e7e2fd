"""The contract: what it takes, what it does not, and that its declarations for JavaScript are current."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from server.wire.entities import BY_LETTER
from server.wire.schema import document
from server.wire.trace import Step, StepLine, Trace
from tests.tracing import trace

ROOT = Path(__file__).parent.parent


def step(**fields: Any) -> dict[str, Any]:
    return {"i": 0, "kind": "statement", "line": 1, **fields}


def test_a_trace_comes_back_as_it_went() -> None:
    told = trace("import torch\nx = torch.tensor([1., float('nan'), 2**70], requires_grad=True)\nx.sum().backward()\n")
    assert json.loads(Trace.model_validate(told).model_dump_json(by_alias=True, exclude_unset=True)) == told


@pytest.mark.parametrize(
    "fields",
    [
        {"set": {"z1": {}}},
        {"set": {"t1": {"shape": "2"}}},
        {"set": {"s1": {"shape": [2]}}},
        {"set": {"t0x": {}}},
        {"gone": ["T1"]},
        {"kind": "guess"},
        {"log": [{"kind": "event", "event": "felt"}]},
        {"log": [{"kind": "event", "event": "path_cut", "tensor": "t1", "name": "x", "reason": "mood"}]},
        {"value": {"ref": "nobody"}},
        {"more": 1},
    ],
)
def test_what_is_no_step(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate(step(**fields))


def test_null_means_absent() -> None:
    told = Step.model_validate(step(set={"t1": {"grad": None}}))
    assert json.loads(told.model_dump_json(exclude_unset=True))["set"] == {"t1": {"grad": None}}


def test_a_line_of_a_million_digits_or_brackets_is_no_step() -> None:
    for text in (b'{"step":{"i":' + b"9" * 10**6 + b"}}", b'{"step":' + b"[" * 200_000):
        with pytest.raises(ValidationError):
            StepLine.model_validate_json(text)


def test_the_schema_knows_every_entity() -> None:
    schema = document()
    assert {model.__name__ for model in BY_LETTER.values()} <= set(schema["$defs"])
    references = {text.split('"')[0] for text in json.dumps(schema).split("#/$defs/")[1:]}
    assert references <= set(schema["$defs"])


@pytest.mark.skipif(not (ROOT / "node_modules").is_dir(), reason="node_modules is not installed")
@pytest.mark.skipif(shutil.which("node") is None and not (ROOT / ".venv/bin/node").exists(), reason="no node")
def test_the_declarations_for_javascript_are_current() -> None:
    path = f"{ROOT}/.venv/bin:{os.environ['PATH']}"
    done = subprocess.run(
        ["npm", "run", "--silent", "types:check"],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr + "\nnpm run types writes them anew"
