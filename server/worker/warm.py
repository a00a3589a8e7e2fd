"""Does once, before the first fork, what torch does late: a child may open no file.

What a program may import, and what torch imports while a program runs, is imported here; then it is taken out of
`sys.modules` and off its packages again and lies in an attic, where an import finds it as plain Python finds it on the
disk. A few statements have the libraries read what they want to know of the machine. All else is put back: a child
begins with what `import torch` leaves.
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
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy
import numpy.random
import torch

from server.language.policy import CLOSED, MODULES

LATE = """
torch._dynamo torch._decomp.decompositions_for_jvp torch._export.non_strict_utils
torch._export.passes._node_metadata_hook torch._export.passes.lift_constants_pass
torch._export.passes.replace_autocast_with_hop_pass torch._export.passes.replace_set_grad_with_hop_pass
torch._functorch.aot_autograd torch._functorch._aot_autograd.autograd_cache
torch._functorch._aot_autograd.complex_decomposition torch._functorch._aot_autograd.subclass_codegen
torch._functorch._aot_autograd.subclass_parametrization torch._higher_order_ops.partitioner
torch._inductor.compiler_bisector torch._inductor.config torch._inductor.decomposition torch._inductor.utils
torch._inductor.fx_passes.dedupe_symint_uses torch._inductor.sizevars torch._prims.rng_prims
torch._subclasses.schema_check_mode torch.ao.ns._numeric_suite_fx torch.autograd._functions torch.export._draft_export
torch.export._trace torch.export._wrapper_utils torch.fx.passes.regional_inductor torch.masked.maskedtensor._ops_refs
torch.nested._internal.ops torch.profiler._chrome_trace_export torch.profiler._cupti_monitor
torch.profiler._cupti_monitor_trace torch.sparse._triton_ops
functorch.dim._getsetitem functorch.dim._order functorch.einops.rearrange functorch.experimental.control_flow
torchgen.api.cpp torchgen.api.ufunc torchgen.gen_schema_utils
_md5 _pylong _sha1 _sha2 _sha256 _sha3 _strptime bdb cmd doctest getopt importlib.readers multiprocessing.popen_fork
multiprocessing.queues multiprocessing.synchronize pdb pydoc pydoc_data.topics tracemalloc unicodedata yaml
"""
"""What functions of torch, numpy and Python import while they run. Not every version or machine has all of it."""

UNWANTED = """
numpy.conftest numpy.distutils numpy.typing.mypy_plugin torch.backends.xeon torch.contrib torch.jit.supported_ops
torch.jit.unsupported_tensor_ops torch.utils.benchmark.utils.compile torch.utils.data.datapipes.gen_pyi
torch.utils.hipify torch.utils.model_dump torch.utils.viz
"""
"""Public modules that print, warn or change how Python logs when they are imported, or take long, and serve no program."""

PATCHED = {("torch", "manual_seed"): "torch._dynamo"}
"""Names that another module replaces when it is imported."""

UNREAD = re.compile(r"torch\.(_inductor|distributed|onnx)\b")
"""Modules whose lines no traceback of a program shows."""

NAMES = "import datetime, hashlib, inspect, time, numpy, torch; from torch import nn"
CASES = (
    "x = torch.randn(4, 4, requires_grad=True); repr((x @ x).relu().sum())",  # reads /proc/cpuinfo
    "nn.Conv2d(3, 4, 3)(torch.randn(2, 3, 8, 8)); nn.LSTM(4, 4)(torch.randn(3, 1, 4)); nn.GRU(4, 4)(torch.randn(3, 1, 4))",
    "nn.EmbeddingBag(6, 3)(torch.tensor([[1, 2]])); nn.BatchNorm1d(4)(torch.randn(2, 4)); nn.LayerNorm(4)(torch.ones(4))",
    "x = torch.randn(3, 2, 8); nn.MultiheadAttention(8, 2)(x, x, x); nn.functional.scaled_dot_product_attention(x, x, x)",
    "nn.functional.cross_entropy(torch.randn(3, 5), torch.tensor([1, 2, 3])); torch.randn(2).double().exp()",
    "torch.linalg.svd(torch.randn(4, 4)); torch.linalg.solve(torch.eye(2), torch.ones(2)); torch.fft.fft(torch.ones(8))",
    "torch.einsum('ij,jk', torch.eye(3), torch.eye(3)); torch.randperm(9).sort(); torch.randn(3).bernoulli_()",
    "torch.eye(3).to_sparse() @ torch.eye(3); torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
    "torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8).dequantize()",
    "with torch.autocast('cpu', torch.bfloat16): torch.randn(4, 4) @ torch.randn(4, 4)",
    "numpy.linalg.svd(numpy.eye(3)); numpy.random.default_rng(0).normal(size=3); torch.from_numpy(numpy.ones(2)).numpy()",
    "time.tzset(); datetime.datetime.now().astimezone(); hashlib.sha256(b'').hexdigest()",
    "inspect.getmodule(compile('', '', 'exec'))",  # asks the disk where each module lies, and remembers
)
"""Run once, in this order; they leave no mark. None runs backward: that makes a thread for each GPU of the machine."""


REGISTRY, ABSENT = "__warningregistry__", object()


class Attic:
    """Modules of torch, numpy and the standard library that are loaded and that nobody sees: a finder of imports."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._needs: dict[str, set[str]] = {}  # a module -> what its code imports when it runs
        self._names: list[str] = []
        self._sets: dict[str, int] = {}  # a module -> what comes with it, as bits at the places of `_names`
        self._before: dict[str, Any] = {}  # a module -> what its package called so before
        self._given: dict[str, list[tuple[ModuleType, str, Any]]] = {}  # a module -> names that others have by it
        self._filters: dict[str, list[tuple[Any, ...]]] = {}  # a module -> filters for its own kind of warning
        self._warned: dict[str, list[Callable[[], None]]] = {}  # a module -> what warns as its import does
        self._here: dict[str, ModuleType] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._filling = True

    @contextlib.contextmanager
    def filled(self) -> Iterator[None]:
        """What is imported within goes to the attic at its end, with what its import did to the modules that stay."""
        here, filters, real = dict(sys.modules), list(warnings.filters), builtins.__import__
        warned = {name for name, module in here.items() if REGISTRY in names(module)}
        patched = {(place, key): names(here[place])[key] for place, key in PATCHED}
        self._here = here
        builtins.__import__ = functools.partial(self._imported, real)
        sys.meta_path.insert(0, self)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = self._heard  # type: ignore[assignment]
                yield
                for one in warnings.filters:
                    if one not in filters:
                        self._filters.setdefault(one[2].__module__, []).append(one)
        finally:
            builtins.__import__ = real
            self._filling = False
        for name in [name for name in sys.modules if name not in here]:
            if name.partition(".")[0] in MODULES or name in self._filters:
                self._modules[name] = sys.modules.pop(name)
        self._settle()
        for at, (name, module) in enumerate(self._modules.items()):
            package, key = name.rpartition(".")[::2]
            place = here.get(package) or self._modules.get(package)
            comes = self._sets.get(package, 0) >> at & 1
            if place is not None and not comes and names(place).get(key) is module:
                self._hide(place, key, self._before.get(name, ABSENT), name)
        for (package, key), value in patched.items():
            if names(here[package])[key] is not value:
                self._hide(here[package], key, value, PATCHED[package, key])
        for name, module in here.items():
            if REGISTRY in names(module) and name not in warned:
                delattr(module, REGISTRY)

    def _settle(self) -> None:
        """Find out what comes with each module; to walk there in a child would copy every page on the way."""
        self._names = list(self._modules)
        self._sets = {name: 1 << at for at, name in enumerate(self._names)}
        for name in self._names:
            self._needs.setdefault(name, set()).add(name.rpartition(".")[0])
        self._needs.pop("", None)  # what nothing in the attic needed
        growing = True
        while growing:
            growing = False
            for name, needs in self._needs.items():
                found = before = self._sets.get(name, 0)
                for need in needs:
                    found |= self._sets.get(need, 0)
                if found != before:
                    self._sets[name], growing = found, True
        self._needs.clear()

    def _hide(self, place: ModuleType, key: str, before: Any, giver: str) -> None:
        self._given.setdefault(giver, []).append((place, key, names(place)[key]))
        if before is ABSENT:
            delattr(place, key)
        else:
            setattr(place, key, before)

    def _imported(
        self,
        real: Callable[..., ModuleType],
        name: str,
        space: Mapping[str, Any] | None = None,
        local: Mapping[str, Any] | None = None,
        parts: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """An import statement while the attic is filled."""
        module = real(name, space, local, parts, level)
        whole = resolve_name("." * level + name, (space or {}).get("__package__")) if level else name
        listed: Sequence[str] = getattr(module, "__all__", ())
        every = [f"{whole}.{one}" for part in parts or () for one in (listed if part == "*" else (part,))]
        self._needs.setdefault(self._running(), set()).update([whole, *every])
        return module

    def _heard(self, message: Warning, category: type, path: str, line: int, *_: object) -> None:
        """A warning while the attic is filled."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != path:
            frame = frame.f_back
        if frame is None or frame.f_globals.get("__name__") in (
            None,
            "importlib",
            __name__,
        ):  # meant for whoever imports
            act = functools.partial(warnings.warn, message, category, 2)
        else:
            act = functools.partial(warn_again, message, category, path, line, frame.f_globals)
        self._warned.setdefault(self._running(), []).append(act)

    def _running(self) -> str:
        """The module whose code runs now, be it in a function that it calls; none that was here before."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        name: str = frame.f_globals.get("__name__", "") if frame is not None else ""
        return "" if name in self._here else name

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if self._filling:
            self._needs.setdefault(self._running(), set()).add(name)
            package, key = name.rpartition(".")[::2]
            self._before.setdefault(name, names(sys.modules.get(package)).get(key, ABSENT))
        return ModuleSpec(name, self) if name in self._modules else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self._modules[spec.name]
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Bring it back into sight, and what comes with it."""
        wanted, module.__spec__ = self._specs.popitem()
        found = self._sets[wanted]
        acts: list[Callable[[], None]] = []
        while found:
            name = self._names[(found & -found).bit_length() - 1]
            found &= found - 1
            if name in sys.modules and name != wanted:
                continue
            sys.modules[name] = self._modules[name]
            for place, key, value in self._given.get(name, ()):
                setattr(place, key, value)
            for action, _, category, *_ in self._filters.get(name, ()):
                warnings.simplefilter(action, category)
            acts += self._warned.get(name, ())
        for act in acts:
            act()


def warn_again(message: Warning, category: type, path: str, line: int, space: dict[str, Any]) -> None:
    warnings.warn_explicit(message, category, path, line, space["__name__"], space.setdefault(REGISTRY, {}))


def names(module: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(module, "__dict__", {})  # what stands in `sys.modules` may be anything
    return found


def warm() -> None:
    """Import and run everything that is late, then put back what a program could notice. To be called once."""
    with quiet():
        with Attic().filled():
            for name in LATE.split():
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
            for name in sorted(MODULES | {"encodings"}):
                everything(name)
            for case in CASES:
                with contextlib.suppress(Exception):  # a test says whether this version can do them all
                    exec(f"{NAMES}\n{case}", {"__name__": "warm"})
            remember()
        gc.collect()
        for _ in range(8):
            bytearray(100_000)  # glibc sorts what is free when it is asked for much: here, or in each child's own copy


def everything(name: str) -> None:
    """Import a module and the public ones below it."""
    try:
        module = importlib.import_module(name)
    except ImportError:  # it wants what is not installed, or another system
        return
    left_out = {*CLOSED, *UNWANTED.split(), f"{name}.tests"}
    for below in pkgutil.iter_modules(getattr(module, "__path__", ())):
        whole = f"{name}.{below.name}"
        if not below.name.startswith("_") and whole not in left_out:
            everything(whole)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leaves the state of the interpreter, of torch and of numpy as it was, and says nothing."""
    collecting, always = gc.isenabled(), torch.is_warn_always_enabled()
    path, environ = list(sys.path), dict(os.environ)
    drawn = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    gc.disable()  # or imports take twice the time
    torch.set_warn_always(True)  # what torch warns of once, it then does not remember
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        torch.set_warn_always(always)
        random.setstate(drawn[0])
        numpy.random.set_state(drawn[1])
        torch.set_rng_state(drawn[2])
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(environ)
        if collecting:
            gc.enable()


def remember() -> None:
    """Have `linecache` know the source of torch, numpy and Python: tracebacks show it, `torch.jit.script` compiles it."""
    linecache.clearcache()  # what it read from a file it forgets once it can't find the file
    known = {"functorch", "numpy", "torch", "typing_extensions", *sys.stdlib_module_names}
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or "")
        if name.partition(".")[0] in known and path.suffix == ".py" and not UNREAD.match(name) and path.is_file():
            text = zlib.compress(path.read_bytes(), 1)
            linecache.cache[str(path)] = (functools.partial(source, text),)


def source(text: bytes) -> str:
    return zlib.decompress(text).decode()
