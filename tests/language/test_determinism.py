"""Which programs may give another result each time, judged by their trees."""

import ast

import pytest

from gradbox.language.determinism import nondeterministic_names
from gradbox.language.tree import SyntaxNodes

CHANGING = """
import time
import math, time
import math,time as t
from time import perf_counter as clock
from  time import sleep
import datetime
import numpy as np; print(np.datetime64("now"))
from timeit import default_timer
s = torch.seed()
s = torch . seed ()
s = torch.Generator().seed()
torch.random.seed()
f = torch.seed
from torch import seed
from torch import rand, seed
from torch import *
random.seed()
random.seed(None)
random.seed(value)
random.seed(0 or None)
np.random.seed()
numpy.random.default_rng()
numpy.random.default_rng(None)
numpy.random.default_rng(seed=None)
numpy.random.default_rng(0 if x else None)
make = numpy.random.default_rng
numpy.random.RandomState()
numpy.random.Generator(numpy.random.PCG64())
random.Random()
random.Random().random()
from random import Random
from random import (choice, Random)
random.SystemRandom().random()
from random import SystemRandom as R
torch.os.urandom(4)
import secrets
import uuid
uuid.uuid4()
logging.warning("late")
torch.cuda.Event(enable_timing=True)
start.elapsed_time(end)
import torch.utils.benchmark as b
b.Timer(work)
some.perf_counter()
some.perf_counter_ns()
loop.monotonic()
day.now()
with torch.profiler.profile() as p: pass
with torch.autograd.profiler.profile() as p: pass
logging.time.time()
print(f"{time.time()}")
torch.os.times()
torch.cuda.seed_all()
getattr(torch, "se" + "ed")()
getattr(torch, 's\\x65ed')()
getattr(torch, "se" "ed")()
getattr(torch, "seed")()
getattr(random, 'Random')()
getattr(t, "time")()
getattr(torch, name)()
vars(torch)["se" + "ed"]()
torch.__dict__["se" + "ed"]()
torch.__getattribute__("se" + "ed")
operator.attrgetter("se" + "ed")(torch)()
type(random._inst)().random()
random.random.__self__.__class__().random()
type(np.random.mtrand._rand)().random_sample()
np.array("now", "M")
np.array("now", dtype=">M")
gc.get_stats()
gc.get_count()
sys.getallocatedblocks()
operator.methodcaller("se" + "ed")(torch)
inspect.getmembers(torch)
exec("s = torch.se" + "ed()")
import ｔｉｍｅ
torch.ｓｅｅｄ()
"""


@pytest.mark.parametrize("line", CHANGING.strip().split("\n"))
def test_a_clock_or_chance_from_outside_is_named(line: str) -> None:
    source = f"import torch\n{line}\n"
    assert nondeterministic_names(SyntaxNodes(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "from random import (\n    choice,  # (one)\n    seed)\nseed()\n",
        "from random import (\n seed\n)\n",
        "import \\\n time\n",
        "import\ttime\n",
        "match torch:\n    case object(seed=f):\n        f()\n",
        "match torch:\n case object(time=f):\n  f()\n",
        "(torch.  # comes\n seed())\n",
        "x = (torch.\n\n\nseed)()\n",
    ],
)
def test_a_clock_or_chance_in_an_unusual_place_is_named(source: str) -> None:
    assert nondeterministic_names(SyntaxNodes(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "torch.manual_seed(0)\nx = torch.rand(3)\n",
        "seed = 42\ntorch.manual_seed(seed)\ntorch.cuda.manual_seed_all(seed)\n",
        "def fix(seed: int = 0):\n    torch.manual_seed(seed)\n",
        "random.seed(1)\nnp.random.seed( 1_000 )\n",
        "rng = np.random.default_rng(7)\nsame = np.random.default_rng(seed=7)\n",
        "one = random.Random(3)\nx = np.random.RandomState(3)\n",
        "# one at a time, the first time, with a seed\nx = torch.rand(3)  # time\n",
        'print("time is short", \'seed\')\n"""Random walks"""  # Random\n',
        "model.eval()\nprint(getattr(x, 'grad', None), x.data_ptr() == id(x))\n",
        "for timestep in range(3):\n    h = cell(h)\nruntime = torch.initial_seed()\n",
        "in_case = 3\n",
    ],
)
def test_what_a_seed_determines_is_not_named(source: str) -> None:
    assert nondeterministic_names(SyntaxNodes(ast.parse(source))) == []
