"""What it costs to step the modules of a project: time and memory of a training whose model and trainer are files of their own.

The small GPT and the small ResNet of `benchmarks/own_code_models.py` lie in a package, as people have them: `net/model.py`,
`net/trainer.py` and a script of four lines. Each way of recording is a fresh process, and the ways take turns; times are the
processor's, and the memory is the largest of the process. `python -m benchmarks.own_modules --rounds 3` prints the medians as JSON.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.own_code_models import COMMON, GPT, RESNET

ROOT = Path(__file__).parent.parent
MODELS = {"gpt": GPT, "resnet": RESNET}
IMPORTS = "\n".join(line for line in COMMON.splitlines() if line.startswith(("import torch", "from torch")))

TRAINER = """
import json, resource, time
import torch
from net.model import Model, batch, loss_of


class Trainer:
    def __init__(self, iterations):
        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.iterations, self.model = iterations, Model()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def round(self):
        x, y = batch()
        loss = loss_of(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        cpu = [time.process_time()]
        for _ in range(self.iterations):
            loss = self.round()
            cpu.append(time.process_time())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return json.dumps({"cpu": cpu, "loss": loss, "peak": peak})
"""
TRAIN = "import sys\nfrom net.trainer import Trainer\ntrainer = Trainer(int(sys.argv[1]))\nprint(trainer.fit())\n"

WAYS = {
    "plain": [],
    "script only": ["--script-only"],
    "modules": ["--quiet"],
    "one round": ["--rounds", "{middle}"],
}
"""The options of `gradbox open` by the way of recording; without any the script runs plainly."""


def write_project(folder: Path, model: str) -> None:
    """The files of a training of one model."""
    (folder / "net").mkdir()
    texts = {"net/__init__.py": "", "net/model.py": f"{IMPORTS}\n{model}", "net/trainer.py": TRAINER, "train.py": TRAIN}
    for name, text in texts.items():
        (folder / name).write_text(text)


def run_way(way: str, folder: Path, iterations: int) -> dict[str, Any]:
    """Figures of one run: seconds of the processor, bytes, steps of the trace."""
    options = [option.format(middle=iterations // 2) for option in WAYS[way]]
    recording = ["-m", "gradbox", "open", "--quiet", "--trace", "run.json", *options] if options else []
    command = [sys.executable, *recording, "train.py", str(iterations)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    cpu = result.pop("cpu")
    steps = len(json.loads((folder / "run.json").read_bytes())["steps"]) if options else 0
    return {**result, "seconds": cpu[-1] - cpu[0], "steps": steps}


def measure(model: str, iterations: int, rounds: int) -> dict[str, Any]:
    """The medians of each way. Raises CalledProcessError where a run fails."""
    results: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        write_project(Path(name), model)
        for turn in range(rounds):
            for way in sorted(WAYS, reverse=bool(turn % 2)):
                results[way].append(run_way(way, Path(name), iterations))
    plain = results["plain"]
    losses = {result["loss"] for found in results.values() for result in found}
    found = {
        way: {
            "times plain": round(
                statistics.median(a["seconds"] / b["seconds"] for a, b in zip(own, plain, strict=True)), 2
            ),
            "seconds": round(statistics.median(result["seconds"] for result in own), 2),
            "MB beyond plain": round(
                statistics.median((a["peak"] - b["peak"]) / 1e6 for a, b in zip(own, plain, strict=True))
            ),
            "steps": own[-1]["steps"],
        }
        for way, own in results.items()
    }
    return {"same loss": len(losses) == 1, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3, help="how often each way is run")
    parser.add_argument("--models", nargs="*", default=sorted(MODELS), choices=sorted(MODELS))
    options = parser.parse_args()
    figures = {name: measure(MODELS[name], options.iterations, options.rounds) for name in options.models}
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
