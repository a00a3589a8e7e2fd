"""torchlens and torchviz at the same work, each in a fresh process that has imported everything before its clock starts.

`python -m benchmarks.others torchlens|torchviz rebind|chain N` prints the best of three as JSON. They are no dependency
of ours: `pip install --target FOLDER torchlens torchviz` and `PYTHONPATH=FOLDER` make them known to one run.
"""

import importlib
import importlib.util
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch

from benchmarks.programs import Chain, Rebind

TOOLS = ("torchlens", "torchviz")
WORK = {"rebind": (Rebind, False), "chain": (Chain, True)}
"""The module of a program, and whether its input requires grad."""


def measured(tool: str, program: str, n: int) -> dict[str, Any]:
    """{"seconds": best of three}, or {"error": text}: not installed, or it fails at this work."""
    if importlib.util.find_spec(tool) is None:
        return {"error": "not installed"}
    command = [sys.executable, "-m", "benchmarks.others", tool, program, str(n)]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["it died"])[-1][:100]}
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def main(tool: str, program: str, n: int) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    library = importlib.import_module(tool)
    module, grad = WORK[program]
    seconds = []
    for _ in range(3):
        x = torch.ones(4, requires_grad=grad)
        began = time.perf_counter()
        if tool == "torchviz":
            library.make_dot(module(n)(x).sum()).source  # noqa: B018
        else:
            library.trace(module(n), x)
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": min(seconds)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
