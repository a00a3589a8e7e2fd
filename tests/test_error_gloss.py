"""The sentences beside torch's exceptions: each is chosen for the exception that torch really raises, and says its facts."""

import json
import subprocess
import textwrap
from typing import Any

import pytest
import torch

from tests.conftest import ROOT

PROGRAMS = {
    "stale": "y = x.exp(); y.add_(1); y.sum().backward()",
    "second_backward": "y = (x * x).sum(); y.backward(); y.backward()",
    "leaf_inplace": "x.add_(1)",
    "leaf_inplace of a view": "x[0:1].add_(1)",
    "no_graph": "torch.ones(1).sum().backward()",
    "not_scalar": "(x * 2).backward()",
    "float_only": "torch.tensor([1, 2], requires_grad=True)",
    "float_only afterwards": "torch.tensor([1, 2]).requires_grad_()",
    "unused": "torch.autograd.grad((x * 2).sum(), torch.ones(1, requires_grad=True))",
    "numpy": "(x * 2).numpy()",
    "not_leaf_flag": "y = x * 2; y.requires_grad = False",
    "not_leaf_copy": "import copy; copy.deepcopy(x * 2)",
    "not_leaf_optimized": "torch.optim.SGD([x * 2], lr=0.1)",
    "many_views": "a, b = x.clone().chunk(2); a.add_(1)",
    "no_grad_view": "b = x.clone()\nwith torch.no_grad(): v = b[0]\nv.add_(1)",
    "inference": "with torch.inference_mode(): a = torch.ones(3)\n(x * a).sum().backward()",
    "inference written": "with torch.inference_mode(): a = torch.ones(3)\na.add_(1)",
    "overlapping": "torch.ones(1).expand(3).add_(torch.ones(3))",
    "matmul": "torch.ones(2, 3) @ torch.ones(4, 5)",
    "matmul in a layer": "torch.nn.Linear(3, 2)(torch.ones(4, 5))",
    "broadcast": "torch.ones(2, 3) + torch.ones(4)",
    "expand": "torch.ones(2, 3).expand(4, 3)",
    "view_strides": "torch.ones(2, 3).t().view(6)",
    "view_count": "torch.ones(6).view(4)",
    "concatenate": "torch.cat([torch.ones(2, 3), torch.ones(2, 4)])",
    "stack": "torch.stack([torch.ones(2), torch.ones(3)])",
    "grad_shape": "(x * 2).backward(torch.ones(2))",
    "grad_shape assigned": "x.grad = torch.ones(2)",
    "dtypes": "torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.int64)",
    "dtypes of a layer": "torch.nn.Linear(3, 2)(torch.ones(4, 3, dtype=torch.float64))",
    "cast": "torch.ones(2, dtype=torch.int64).add_(0.5)",
    "mean": "torch.tensor([1, 2]).mean()",
    "target_dtype": "torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(2))",
    "target_class": "torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([1, 5]))",
    "item": "x.item()",
    "truth": "bool(x)",
    "index": "x[5]",
    "dimension": "x.sum(2)",
    "": "raise RuntimeError('something else')",
}
GLOSSES = """
import { glossText } from "./static/js/messages.js";
import { errorGloss } from "./static/js/error_gloss.js";
import { locale } from "./static/js/locale.js";
const errors = JSON.parse(process.argv[1]);
const texts = (error) => ["en", "zh"].map((language) => glossText(error, locale(language).say));
console.log(JSON.stringify(errors.map((error) => [errorGloss(error)?.key ?? "", ...texts(error)])));
"""


def raised(program: str) -> dict[str, str]:
    with pytest.raises(Exception) as caught:
        exec(textwrap.dedent(program), {"torch": torch, "x": torch.ones(3, requires_grad=True)})
    return {"type": type(caught.value).__name__, "message": str(caught.value)}


def test_each_exception_has_its_sentence_in_both_languages() -> None:
    errors = [raised(program) for program in PROGRAMS.values()]
    command = ["node", "--input-type=module", "-e", GLOSSES, json.dumps(errors)]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows: list[list[Any]] = json.loads(out)
    for name, error, (key, english, chinese) in zip(PROGRAMS, errors, rows, strict=True):
        if name == "target_dtype" and "target" not in error["message"]:
            continue  # torch 2.11 doesn't say of what it expects another dtype
        assert key == name.split(" ")[0], error
        assert bool(english) == bool(chinese) == bool(key)
        assert "{" not in english + chinese and english != f"gloss_{key}" != chinese
    texts = {name: row[1] for name, row in zip(PROGRAMS, rows, strict=True)}
    assert "3 columns against 4 rows" in texts["matmul"]
    assert "3 and 4 do not fit" in texts["broadcast"]
    assert "double" in texts["dtypes of a layer"].lower()
