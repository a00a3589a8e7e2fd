"""The cost of torchlens and torchviz for the same operations, each measured in a fresh process after its imports.

`python -m benchmarks.other_tracers torchlens chain 200` prints the best of three runs as JSON. The project does not
depend on them: `pip install -e ".[benchmarks]"` installs both with what they need (torchlens 2 imports safetensors and
tqdm only when `trace` is first called, and fails then if they are missing).
"""

import argparse
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
MODULES = {"rebind": (Rebind, False), "chain": (Chain, True)}
"""The module that does a program's operations, and whether its input requires grad."""

ROUNDS = 3


def measure(tool: str, program: str, n: int) -> dict[str, Any]:
    """Time a tool on n operations of a program: {"seconds": best of three}, or {"error": why there is no figure}."""
    if importlib.util.find_spec(tool) is None:
        return {"error": 'not installed: pip install -e ".[benchmarks]"'}
    command = [sys.executable, "-m", "benchmarks.other_tracers", tool, program, str(n)]
    process = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    if process.returncode:
        return {"error": (process.stderr.strip().splitlines() or ["it printed nothing"])[-1][:200]}
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return result


def main(tool: str, program: str, n: int) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    library = importlib.import_module(tool)
    module, requires_grad = MODULES[program]
    seconds = []
    for _ in range(ROUNDS):
        x = torch.ones(4, requires_grad=requires_grad)
        began = time.perf_counter()
        if tool == "torchviz":
            library.make_dot(module(n)(x).sum()).source  # noqa: B018
        else:
            library.trace(module(n), x)
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": min(seconds)}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.other_tracers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("program", choices=MODULES)
    parser.add_argument("n", type=int, help="number of operations")
    options = parser.parse_args()
    main(options.tool, options.program, options.n)
