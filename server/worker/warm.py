"""Does once, before the first fork, what torch does late: a child may open no file.

What a program may import, and what torch imports while a program runs, is imported here; then it is taken out of
`sys.modules` and off its packages again, and lies in an attic from where an import fetches it as plain Python reads it
from the disk. Small programs make the libraries read what they read about the machine. Everything else is put back: a
child finds what `import torch` leaves.
"""

import builtins
import contextlib
import functools
import gc
import importlib
import io
import linecache
import os
import pkgutil
import random
import re
import sys
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy
import numpy.random
import torch
from torch.fx import graph_module
from torch.utils.hooks import RemovableHandle

from server.language.policy import CLOSED, MODULES

LATE = """
torch._dynamo torch._decomp.decompositions_for_jvp torch._export.non_strict_utils torch._export.passes.lift_constants_pass
torch._functorch.aot_autograd torch._functorch._aot_autograd.autograd_cache torch._higher_order_ops.partitioner
torch._inductor.compiler_bisector torch._inductor.config torch._inductor.decomposition torch._inductor.utils
torch._inductor.fx_passes.dedupe_symint_uses torch._inductor.sizevars torch._prims.rng_prims
torch._subclasses.schema_check_mode torch.autograd._functions torch.export._trace torch.fx.passes.regional_inductor
torch.masked.maskedtensor._ops_refs torch.nested._internal.ops torch.profiler._chrome_trace_export
torch.profiler._cupti_monitor torch.profiler._cupti_monitor_trace torch.sparse._triton_ops
functorch.dim functorch.einops.rearrange
_md5 _pylong _sha1 _sha2 _sha256 _sha3 _strptime bdb cmd doctest getopt importlib.readers pdb pydoc pydoc_data.topics
tracemalloc unicodedata
"""
"""What functions of torch, numpy and the standard library import while they run. Not every version has all of it."""

UNWANTED = frozenset(
    ["numpy.conftest", "numpy.distutils", "numpy.typing.mypy_plugin", "torch.contrib", "torch.utils.benchmark.utils.compile", "torch.utils.data.datapipes.gen_pyi", "torch.utils.hipify", "torch.utils.model_dump", "torch.utils.viz"]
)
"""Public modules that print something, warn or start building C++ when they are imported, or of use to no program."""

PATCHED = {("torch", "manual_seed"): "torch._dynamo"}
"""Names that a module outside replaces when it is imported."""

UNREAD = re.compile(r"torch\.(_inductor|_export|distributed|onnx)\b")
"""Modules whose lines no traceback of a program shows."""

CASES = (
    # where a vector operation reads /proc/cpuinfo
    "x = torch.randn(4, 4, requires_grad=True); (x @ x).relu().sum().backward(); repr(x); x.tolist()",
    "x = torch.randn(2, 3, 8, 8, requires_grad=True); nn.Conv2d(3, 4, 3)(x).sum().backward()",
    "nn.LSTM(4, 4)(torch.randn(3, 1, 4))[0].sum().backward(); nn.GRU(4, 4)(torch.randn(3, 1, 4))",
    "x = torch.randn(3, 2, 8); nn.MultiheadAttention(8, 2)(x, x, x)[0].sum().backward()",
    "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()(torch.randn(2, 3, 8))",
    "nn.EmbeddingBag(6, 3)(torch.tensor([[1, 2]])); nn.Embedding(6, 3, sparse=True)(torch.tensor([1])).sum().backward()",
    "F.cross_entropy(torch.randn(3, 5, requires_grad=True), torch.tensor([1, 2, 3])).backward()",
    "F.scaled_dot_product_attention(*(torch.randn(1, 2, 4, 8) for _ in range(3)))",
    "m = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()); m(torch.randn(2, 4)).sum().backward(); str(m)",
    "copy.deepcopy(nn.Linear(2, 2)).load_state_dict(nn.Linear(2, 2).state_dict())",
    """
for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad, optim.RMSprop, optim.LBFGS):
    p = nn.Parameter(torch.randn(3))
    o = kind([p], lr=0.1)
    def closure():
        o.zero_grad()
        loss = p.square().sum()
        loss.backward()
        return loss
    o.step(closure)
    repr(o), o.state_dict()
""",
    "torch.func.vmap(torch.func.grad(lambda x: (x**2).sum()))(torch.randn(3, 3)); torch.func.jacrev(torch.sin)(torch.ones(2))",
    "torch.func.hessian(lambda x: x.sin().sum())(torch.ones(2)); torch.func.jvp(torch.sin, (torch.ones(2),), (torch.ones(2),))",
    "torch.func.functional_call(nn.Linear(2, 2), {'bias': torch.ones(2)}, torch.ones(2))",
    "torch.autograd.functional.hessian(lambda x: x.pow(3).sum(), torch.ones(2))",
    "x = torch.ones(2, dtype=torch.double, requires_grad=True); torch.autograd.gradcheck(torch.sin, (x,))",
    "x = torch.ones(2, requires_grad=True); checkpoint(torch.sin, x, use_reentrant=False).sum().backward()",
    "with fwAD.dual_level(): fwAD.unpack_dual(fwAD.make_dual(torch.ones(2), torch.ones(2)).sin())",
    """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
Double.apply(torch.ones(2, requires_grad=True)).sum().backward()
""",
    """
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))
with Mode(): torch.ones(2) + 1
""",
    """
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))
with Mode(): torch.ones(2) + 1
""",
    """
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: g)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t), torch.autograd.set_detect_anomaly(True):
    (x * x).sum().backward()
""",
    "list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(4, 2)), batch_size=2, shuffle=True))",
    "torch.distributions.Normal(0.0, 1.0).rsample(); torch.distributions.Categorical(torch.ones(3)).sample()",
    "nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))(torch.randn(2, 3)); nn.utils.clip_grad_norm_([], 1.0)",
    "torch.eye(3).to_sparse() @ torch.eye(3); torch.eye(3).to_sparse_csr(); repr(torch.eye(3).to_sparse())",
    "torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]); torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged)",
    "repr(torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8))",
    "torch.fx.symbolic_trace(nn.Linear(2, 2))(torch.ones(2)); FakeTensorMode().__enter__().__exit__(None, None, None)",
    "torch.linalg.svd(torch.randn(4, 4)); torch.linalg.solve(torch.eye(2), torch.ones(2)); torch.einsum('ij,jk', x := torch.eye(3), x)",
    "torch.fft.fft(torch.randn(8)).abs(); torch.stft(torch.randn(64), 16, return_complex=True, window=torch.ones(16))",
    "with torch.autocast('cpu', dtype=torch.bfloat16): torch.randn(4, 4) @ torch.randn(4, 4)",
    "o = optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0); o.step(); optim.lr_scheduler.CosineAnnealingLR(o, 10).step()",
    "torch.ones(3).numpy() + numpy.linalg.svd(numpy.eye(3))[1]; repr(numpy.random.default_rng(0).normal(size=3)); torch.from_numpy(numpy.ones(2))",
    "time.localtime(); datetime.datetime.strptime('2024', '%Y').astimezone(); decimal.Decimal(1) / 3; statistics.stdev([1, 2])",
    "help(len); '\\N{BULLET}'.encode('utf-16'); hashlib.new('sha3_256')",
    """
try: torch.ones(2, 3) @ torch.ones(2, 3)
except RuntimeError: traceback.format_exc()
try: torch.onse
except AttributeError: traceback.format_exc()
""",
)  # fmt: skip
"""Programs that run once. They leave no mark that the rest of this file does not take away."""

NAMES = """
import copy, datetime, decimal, hashlib, statistics, time, traceback
import numpy, torch
import torch.autograd.forward_ad as fwAD
from torch import nn, optim
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
"""


class Attic:
    """Modules of torch, numpy and the standard library that are loaded and that nobody sees: a finder of imports."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._needs: dict[str, set[str]] = {}  # a module -> what its code imports when it runs
        self._sets: dict[str, int] = {}  # a module -> what comes with it, as bits of places in `_names`
        self._names: list[str] = []
        self._given: dict[str, list[tuple[ModuleType, str, Any]]] = {}  # a module -> names that it gives to others
        self._filters: dict[str, list[tuple[Any, ...]]] = {}  # a module -> filters for its own kind of warning
        self._open = True

    @contextlib.contextmanager
    def filled(self) -> Iterator[None]:
        """What is imported within goes to the attic at its end, with what its imports changed elsewhere."""
        here = dict(sys.modules)
        before = {name: dict(vars(module)) for name, module in here.items() if isinstance(module, ModuleType)}
        filters, real = list(warnings.filters), builtins.__import__
        builtins.__import__ = functools.partial(self._imported, real)  # type: ignore[assignment]
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]
        try:
            yield
        finally:
            builtins.__import__ = real
            self._open = False
        for one in warnings.filters:
            if one not in filters:
                self._filters.setdefault(one[2].__module__, []).append(one)
        for name in sys.modules.keys() - here.keys():
            if name.partition(".")[0] in MODULES or name in self._filters:
                self._modules[name] = sys.modules.pop(name)
        for name, names in before.items():
            self._strip(here[name], name, names)
        self._settle()

    def _strip(self, module: ModuleType, name: str, before: dict[str, Any]) -> None:
        for key, value in list(vars(module).items()):
            if key in before and before[key] is value:
                continue
            giver = PATCHED.get((name, key), f"{name}.{key}")
            if giver in self._modules:
                self._given.setdefault(giver, []).append((module, key, value))
            elif key != "__warningregistry__":
                continue
            if key in before:
                setattr(module, key, before[key])
            else:
                delattr(module, key)

    def _settle(self) -> None:
        """Of each module, what comes with it: written down here, for in a child every look is a page copied."""
        self._names = list(self._modules)
        self._sets = {name: 1 << place for place, name in enumerate(self._names)}
        for name in self._names:
            self._needs.setdefault(name, set()).add(name.rpartition(".")[0])
        growing = True
        while growing:
            growing = False
            for name, needs in self._needs.items():
                was = whole = self._sets.get(name, 0)
                for need in needs:
                    whole |= self._sets.get(need, 0)
                if whole != was:
                    self._sets[name], growing = whole, True
        self._needs.clear()

    def _imported(
        self,
        real: Any,
        name: str,
        space: Mapping[str, Any] | None = None,
        local: Mapping[str, Any] | None = None,
        parts: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """An import statement while the attic is filled."""
        module: ModuleType = real(name, space, local, parts, level)
        whole = resolve_name("." * level + name, (space or {}).get("__package__")) if level else name
        every = [one for part in parts or () for one in (getattr(module, "__all__", ()) if part == "*" else (part,))]
        self._needed(whole, *(f"{whole}.{one}" for one in every))
        return module

    def _needed(self, *names: str) -> None:
        """The module whose code runs at the moment, functions that it calls included, needs these."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        if frame is not None:
            self._needs.setdefault(frame.f_globals.get("__name__", ""), set()).update(names)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if self._open:
            self._needed(name)
        return ModuleSpec(name, self) if name in self._modules else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        spec.loader_state = self._modules[spec.name].__spec__
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Bring it back into sight, with what comes with it."""
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state
        found = self._sets[spec.name]
        while found:
            name = self._names[(found & -found).bit_length() - 1]
            found &= found - 1
            if name in sys.modules and name != spec.name:
                continue
            sys.modules[name] = self._modules[name]
            for place, key, value in self._given.get(name, ()):
                setattr(place, key, value)
            for action, _, category, *_ in self._filters.get(name, ()):
                warnings.simplefilter(action, category)


def warm() -> None:
    """Import and run everything that is late, then put back what a program could notice. To be called once."""
    attic = Attic()
    with quiet(), attic.filled():
        for name in LATE.split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        for name in sorted(MODULES | {"encodings"}):
            everything(name)
        time.tzset()  # reads /etc/localtime
        space: dict[str, Any] = {"__name__": "warm"}
        exec(NAMES, space)
        for case in CASES:
            exec(case, dict(space))
        remember()


def everything(name: str) -> None:
    """Import a module and the public ones below it."""
    try:
        module = importlib.import_module(name)
    except ImportError:  # it wants what is not installed, or another system
        return
    for below in pkgutil.iter_modules(getattr(module, "__path__", ())):
        whole = f"{name}.{below.name}"
        if not below.name.startswith("_") and below.name != "tests" and whole not in CLOSED and whole not in UNWANTED:
            everything(whole)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leaves the interpreter and torch as they were, but for what was imported."""
    collecting, argv, path, environ = gc.isenabled(), sys.argv, list(sys.path), dict(os.environ)
    cached = dict(linecache.cache)
    drawn = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    counted = RemovableHandle.next_id, graph_module._loader.next_id
    gc.disable()  # halves the time that imports take
    torch.set_warn_always(True)  # what torch warns of once, it does not remember then
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_warn_always(False)
        RemovableHandle.next_id, graph_module._loader.next_id = counted
        random.setstate(drawn[0])
        numpy.random.set_state(drawn[1])
        torch.set_rng_state(drawn[2])
        sys.argv, sys.path[:] = argv, path
        os.environ.clear()
        os.environ.update(environ)
        if collecting:
            gc.enable()


def remember() -> None:
    """Has `linecache` know the lines of torch, numpy and the standard library: what tracebacks show and scripts compile."""
    linecache.clearcache()  # what it read from a file, it drops as soon as it can't find the file
    known = {"functorch", "numpy", "torch", "typing_extensions", *sys.stdlib_module_names}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if name.partition(".")[0] in known and path.endswith(".py") and not UNREAD.match(name) and os.path.isfile(path):
            text = zlib.compress(Path(path).read_bytes(), 1)
            linecache.cache[path] = (functools.partial(lines, text),)  # type: ignore[assignment]


def lines(text: bytes) -> str:
    return zlib.decompress(text).decode()
