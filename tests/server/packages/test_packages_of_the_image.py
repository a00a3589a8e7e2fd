"""The image with packages beside torch (`PACKAGES`): the real ones, in the versions that pip takes there, in programs
that run confined.

They come from the machine's index; where there is none the tests are skipped and say so. torchvision is not among them:
its builds belong to one of torch, which only the index of PyTorch has.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from server.pool import zygote
from tests.forks import prepared_zygotes
from tests.support.tracing import printed
from tests.support.workers import Workers

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

ROOT = Path(__file__).parents[3]
PACKAGES = ("pandas", "scikit-learn", "transformers")
OF_OUR_OWN = ("torch", "numpy")
"""What they need and is here: a second copy of it would be another library."""
INSTALL_SECONDS = 600

PROGRAMS = {
    "pandas": (
        "import torch, pandas as pd\n"
        "frame = pd.DataFrame({'x': [1.0, 2.0], 'y': [3.0, 5.0]})\n"
        "x = torch.tensor(frame['x'].to_numpy(), requires_grad=True)\n"
        "(x * torch.tensor(frame['y'].to_numpy())).sum().backward()\n"
        "print(x.grad.tolist(), frame.groupby('x')['y'].sum().tolist())\n",
        "[3.0, 5.0] [3.0, 5.0]\n",
    ),
    "sklearn": (
        "import torch\nfrom sklearn.datasets import load_iris\nfrom sklearn.linear_model import LogisticRegression\n"
        "x, y = load_iris(return_X_y=True)\n"
        "print(LogisticRegression(max_iter=500).fit(x, y).score(x, y) > 0.9, torch.tensor(x).shape)\n",
        "True torch.Size([150, 4])\n",
    ),
    "transformers": (
        "import torch\nfrom transformers import BertConfig, BertModel\n"
        "config = BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, "
        "vocab_size=16)\n"
        "model = BertModel(config)\nout = model(torch.arange(4).view(1, 4)).last_hidden_state\nout.sum().backward()\n"
        "print(out.shape, model.embeddings.word_embeddings.weight.grad.shape)\n",
        "torch.Size([1, 4, 8]) torch.Size([16, 8])\n",
    ),
}


def run_uv(*arguments: str) -> str:
    """What it says, on both streams. Skips where the packages can't be had."""
    command = [
        str(Path(sys.prefix) / "bin/uv"),
        "pip",
        "install",
        "-c",
        str(ROOT / "deploy/constraints.txt"),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        pytest.skip(f"no such packages here: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    """A server's workers with GRADBOX_PACKAGES set to these, from a folder that has what this environment lacks of
    them."""
    folder = tmp_path_factory.mktemp("packages")
    said = run_uv("--dry-run", "--python", sys.executable, *PACKAGES)
    lacking = [line.split()[1] for line in said.splitlines() if line.strip().startswith("+ ")]
    wanted = [pin for pin in lacking if pin.partition("==")[0] not in OF_OUR_OWN]
    run_uv("--no-deps", "--target", str(folder), *wanted)
    with (
        prepared_zygotes.unused(),
        patch.object(zygote, "PACKAGE_FOLDERS", [str(folder)]),
        pytest.MonkeyPatch.context() as m,
    ):
        m.syspath_prepend(str(folder))
        made = Workers(packages=",".join(PACKAGES))
        made.run("x = 1")  # it starts with the first program
    yield made
    made.close()


@pytest.mark.parametrize("module", PROGRAMS)
def test_a_program_uses_a_package_of_the_image(module: str, workers: Workers) -> None:
    source, expected = PROGRAMS[module]
    trace = workers.run(source)
    assert trace.outcome.error is None, trace.outcome.error
    assert printed(trace.model_dump()) == expected


def test_packages_that_the_host_did_not_name_are_absent(workers: Workers) -> None:
    error = workers.run("import einops\n").outcome.error
    assert error is not None and "this server does not offer it" in error.message
