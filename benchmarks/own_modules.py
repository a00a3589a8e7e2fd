"""What it costs to step the modules of a project: processor time and peak memory of trainings as people have them.

A small GPT, of two blocks, and the small ResNet of `benchmarks/own_code_models.py` lie in a package: `net/model.py`,
`net/trainer.py` and a script of a few lines. `gpt` and `resnet` are trained by the package's Trainer, `loader` draws
its batches from a `DataLoader` and a `Dataset` of the project, and `script` is the GPT in one file. Each run is a fresh
process, and the ways take turns. Times are of the processor, imports left out; the peak is that of the process, imports
included. `python -m benchmarks.own_modules` takes less than two minutes where nothing else runs, and prints JSON;
`--turns 3` prints medians of three.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.own_code_models import COMMON, GPT, RESNET

ROOT = Path(__file__).parent.parent
IMPORTS = "\n".join(line for line in COMMON.splitlines() if line.startswith(("import torch", "from torch")))

SMALL_GPT = GPT.replace("depth=4", "depth=2")

START = """
import json, resource, sys, time
import torch
torch.set_num_threads(1)
torch.manual_seed(0)
"""
TRAINER = (
    START
    + """
from net.model import Model, batch, loss_of


class Trainer:
    def __init__(self, rounds, batches=None):
        self.rounds, self.model, self.batches = rounds, Model(), batches
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def round(self, x, y):
        loss = loss_of(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        begun = time.process_time()
        for x, y in self.batches or (batch() for _ in range(self.rounds)):
            loss = self.round(x, y)
        seconds = time.process_time() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return json.dumps({"seconds": seconds, "loss": loss, "peak": peak})
"""
)
DATA = """
import torch
from net.model import batch


class Samples(torch.utils.data.Dataset):
    def __init__(self, rounds):
        parts = [batch() for _ in range(rounds)]
        self.x, self.y = torch.cat([x for x, _ in parts]), torch.cat([y for _, y in parts])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]
"""
TRAIN = "import sys\nfrom net.trainer import Trainer\nprint(Trainer(int(sys.argv[1])).fit())\n"
TRAIN_WITH_LOADER = """
import sys
import torch
from net.data import Samples
from net.trainer import Trainer
batches = torch.utils.data.DataLoader(Samples(int(sys.argv[1])), batch_size=8, shuffle=True)
print(Trainer(int(sys.argv[1]), batches).fit())
"""


class Kind(NamedTuple):
    """A project.

    files: by their names
    ways: of recording it that are measured
    """

    files: dict[str, str]
    ways: tuple[str, ...]


def package(model: str, **files: str) -> dict[str, str]:
    """The files of a project whose model and trainer are modules.

    files: by the names of modules; `train` is the script
    """
    own = {"__init__": "", "model": f"{IMPORTS}\n{model}", "trainer": TRAINER, **files}
    script = own.pop("train", TRAIN)
    return {"train.py": script, **{f"net/{name}.py": text for name, text in own.items()}}


SCRIPT = "\n".join(
    [
        IMPORTS,
        SMALL_GPT,
        TRAINER.replace("from net.model import Model, batch, loss_of", ""),
        "print(Trainer(int(sys.argv[1])).fit())",
    ]
)
WAYS = {
    "plain": [],
    "script only": ["--script-only"],
    "modules": ["--quiet"],
    "one round": ["--rounds", "{middle}"],
}
"""The options of `gradbox open` by the way of recording; without any the script runs plainly."""

KINDS = {
    "gpt": Kind(package(SMALL_GPT), ("plain", "modules", "one round")),
    "resnet": Kind(package(RESNET), ("plain", "script only", "modules", "one round")),
    "loader": Kind(package(RESNET, data=DATA, train=TRAIN_WITH_LOADER), ("plain", "modules")),
    "script": Kind({"train.py": SCRIPT}, ("plain", "modules", "one round")),
}


def run_way(way: str, folder: Path, rounds: int) -> dict[str, Any]:
    """Figures of one run: seconds of the processor, bytes, steps of the trace. Raises CalledProcessError where it
    fails."""
    options = [option.format(middle=rounds // 2) for option in WAYS[way]]
    recording = ["-m", "gradbox", "open", "--quiet", "--trace", "run.json", *options] if options else []
    command = [sys.executable, *recording, "train.py", str(rounds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    steps = len(json.loads((folder / "run.json").read_bytes())["steps"]) if options else 0
    return {**result, "steps": steps}


def measure(kind: Kind, turns: int, rounds: int) -> dict[str, Any]:
    """The medians of each way. Raises CalledProcessError where a run fails.

    rounds: of the training
    """
    results: dict[str, list[dict[str, Any]]] = {way: [] for way in kind.ways}
    with tempfile.TemporaryDirectory() as name:
        for file, text in kind.files.items():
            path = Path(name, file)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        for turn in range(turns):
            for way in sorted(kind.ways, reverse=bool(turn % 2)):
                results[way].append(run_way(way, Path(name), rounds))
    plain = results["plain"]
    losses = {result["loss"] for found in results.values() for result in found}
    found = {way: figures(own, plain) for way, own in results.items()}
    return {"same loss": len(losses) == 1, **found}


def figures(own: list[dict[str, Any]], plain: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of the runs of one way, beside the plain runs of the same turns."""
    pairs = list(zip(own, plain, strict=True))
    return {
        "times plain": round(statistics.median(a["seconds"] / b["seconds"] for a, b in pairs), 2),
        "seconds": round(statistics.median(a["seconds"] for a in own), 2),
        "MB beyond plain": round(statistics.median((a["peak"] - b["peak"]) / 1e6 for a, b in pairs)),
        "steps": own[-1]["steps"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8, help="of each training")
    parser.add_argument("--turns", type=int, default=1, help="how often each way is run")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args()
    measured = {name: measure(KINDS[name], options.turns, options.rounds) for name in options.kinds}
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
