"""Packages that a program may import where the host has them."""

import pytest

from gradbox.language.determinism import nondeterministic_names
from gradbox.language.policy import ALLOWED_MODULES
from gradbox.language.program_lines import parse_without_warnings
from gradbox.language.tree import SyntaxNodes
from tests.support.tracing import events, printed, trace

pytestmark = pytest.mark.slow


@pytest.mark.skipif("einops" not in ALLOWED_MODULES, reason="einops is not installed: programs with it were not tried")
def test_einops_reshapes_as_torch_would() -> None:
    recorded = trace(
        "import torch\nfrom einops import rearrange, reduce\nfrom einops.layers.torch import Rearrange\n"
        "x = torch.arange(6., requires_grad=True).view(1, 2, 3)\n"
        "y = rearrange(x, 'b h w -> b (h w)')\nprint(y.data_ptr() == x.data_ptr(), reduce(x, 'b h w -> b', "
        "'sum').tolist())\n"
        "print(Rearrange('b h w -> (b h) w')(x).shape)\n"
    )
    assert printed(recorded) == "True [15.0]\ntorch.Size([2, 3])\n"
    assert events(recorded, "tracer_fault") == []


@pytest.mark.skipif("tqdm" not in ALLOWED_MODULES, reason="tqdm is not installed: programs with it were not tried")
def test_a_progress_bar_goes_to_the_standard_error() -> None:
    recorded = trace("from tqdm.auto import tqdm\nfor i in tqdm(range(3)):\n    x = i\nprint(x)\n")
    assert recorded["outcome"]["status"] == "finished", recorded["outcome"]
    assert printed(recorded, "stdout") == "2\n"
    assert "3/3" in printed(recorded, "stderr")


@pytest.mark.parametrize("source", ["from tqdm import trange", "import tqdm", "from tqdm.auto import tqdm"])
def test_a_program_with_a_progress_bar_is_never_taken_from_the_cache(source: str) -> None:
    assert nondeterministic_names(SyntaxNodes(parse_without_warnings(source)))
