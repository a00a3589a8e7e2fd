"""Does, once and before the first fork, what torch does late, because a child can't open any file.

Everything that a program may import, and that torch imports while a program runs, is imported here and then hidden: it
is removed from `sys.modules`, and an import finds it again. To the program such an import looks as if the module had
just been read from the disk: the package gets the attribute, warnings are shown, and what the module sets on other
modules is set. A few statements make the libraries read what they want to know of the machine. Everything else is
restored, so a child begins in the state that `import torch` leaves.
"""

import builtins
import contextlib
import functools
import gc
import importlib
import io
import linecache
import logging
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

from gradbox.language.policy import ALLOWED_MODULES, FORBIDDEN_MEMBERS
from server.worker.package_data import ENVIRONMENT, LAZY_MODULES, SUBMODULES_TO_IMPORT
from server.worker.threads import register_import_as_thread_origin, register_thread_origin

REPLACED_NAMES = {("torch", "manual_seed"): "torch._dynamo"}
"""Names that another module replaces when it is imported."""

WARNING_REGISTRY, MISSING = "__warningregistry__", object()


class PreloadedModulesFinder:
    """An import finder for modules that are loaded already, but are in no namespace until they are imported.

    collector_name: the name of the module that imports them while they are collected
    """

    def __init__(self, collector_name: str) -> None:
        self._collector_name = collector_name
        self._modules: dict[str, ModuleType] = {}
        self._imports_of: dict[str, set[str]] = {}  # a module -> what its code imports when it runs
        self._names: list[str] = []
        self._closures: dict[str, int] = {}  # a module -> what comes with it, as a bit set over `_names`
        self._previous_attributes: dict[str, Any] = {}  # a module -> what its package called so before
        # a module -> attributes that its import sets on other modules
        self._attributes: dict[str, list[tuple[ModuleType, str, Any]]] = {}
        self._filters: dict[str, list[tuple[Any, ...]]] = {}  # a module -> filters for its own kind of warning
        self._warnings: dict[str, list[Callable[[], None]]] = {}  # a module -> what repeats the warnings of its import
        self._visible: dict[str, ModuleType] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._collecting = True

    @contextlib.contextmanager
    def collecting_imports(self) -> Iterator[None]:
        """Hide what is imported in the block, and undo what those imports did to the modules that stay."""
        visible, filters, import_ = dict(sys.modules), list(warnings.filters), builtins.__import__
        warned = {name for name, module in visible.items() if WARNING_REGISTRY in get_module_attributes(module)}
        patched = {(package, key): get_module_attributes(visible[package])[key] for package, key in REPLACED_NAMES}
        self._visible = visible
        builtins.__import__ = functools.partial(self._import_and_collect, import_)
        sys.meta_path.insert(0, self)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = self._record_warning  # type: ignore[assignment]
                yield
                for added in warnings.filters:
                    if added not in filters:
                        self._filters.setdefault(added[2].__module__, []).append(added)
        finally:
            builtins.__import__ = import_
            self._collecting = False
        for name in [name for name in sys.modules if name not in visible]:
            if name.partition(".")[0] in ALLOWED_MODULES or name in self._filters:
                self._modules[name] = sys.modules.pop(name)
        self._compute_import_closures()
        for at, (name, module) in enumerate(self._modules.items()):
            package, key = name.rpartition(".")[::2]
            parent = visible.get(package) or self._modules.get(package)
            comes_along = self._closures.get(package, 0) >> at & 1
            if parent is not None and not comes_along and get_module_attributes(parent).get(key) is module:
                self._hide_attribute(parent, key, self._previous_attributes.get(name, MISSING), name)
        for (package, key), value in patched.items():
            if get_module_attributes(visible[package])[key] is not value:
                self._hide_attribute(visible[package], key, value, REPLACED_NAMES[package, key])
        for name, module in visible.items():
            if WARNING_REGISTRY in get_module_attributes(module) and name not in warned:
                delattr(module, WARNING_REGISTRY)

    def _compute_import_closures(self) -> None:
        """Compute which modules come with each module. Following its imports in a child would copy every page on the
        way."""
        self._names = list(self._modules)
        self._closures = {name: 1 << at for at, name in enumerate(self._names)}
        for name in self._names:
            self._imports_of.setdefault(name, set()).add(name.rpartition(".")[0])
        self._imports_of.pop("", None)  # what was needed by no hidden module
        growing = True
        while growing:
            growing = False
            for name, needs in self._imports_of.items():
                closure = before = self._closures.get(name, 0)
                for need in needs:
                    closure |= self._closures.get(need, 0)
                if closure != before:
                    self._closures[name], growing = closure, True
        self._imports_of.clear()

    def _hide_attribute(self, owner: ModuleType, key: str, before: Any, setter: str) -> None:
        """Restore an attribute to its earlier value until the module `setter` is imported."""
        self._attributes.setdefault(setter, []).append((owner, key, get_module_attributes(owner)[key]))
        if before is MISSING:
            delattr(owner, key)
        else:
            setattr(owner, key, before)

    def _import_and_collect(
        self,
        import_: Callable[..., ModuleType],
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 callers may use the names that it has in `builtins`
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Replaces `builtins.__import__` while modules are collected: notes what the importing module needs."""
        module = import_(name, globals, locals, fromlist, level)
        full_name = resolve_name("." * level + name, (globals or {}).get("__package__")) if level else name
        listed: Sequence[str] = getattr(module, "__all__", ())
        members = [member for part in fromlist or () for member in (listed if part == "*" else (part,))]
        needs = self._imports_of.setdefault(self._importing_module(), set())
        needs.update([full_name, *(f"{full_name}.{member}" for member in members)])
        return module

    def _record_warning(self, message: Warning, category: type, path: str, line: int, *_: object) -> None:
        """Replaces `warnings.showwarning` while modules are collected: keeps what is needed to repeat the warning at a
        later import."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != path:
            frame = frame.f_back
        importer = (None, "importlib", self._collector_name)
        if frame is None or frame.f_globals.get("__name__") in importer:  # meant for whoever imports
            repeat = functools.partial(warnings.warn, message, category, 2)
        else:
            repeat = functools.partial(repeat_warning, message, category, path, line, frame.f_globals)
        self._warnings.setdefault(self._importing_module(), []).append(repeat)

    def _importing_module(self) -> str:
        """The hidden module whose code runs now, even inside a function that it calls; "" if there is none."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        name: str = frame.f_globals.get("__name__", "") if frame is not None else ""
        return "" if name in self._visible else name

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Part of the interface of `sys.meta_path`."""
        if self._collecting:
            self._imports_of.setdefault(self._importing_module(), set()).add(name)
            package, key = name.rpartition(".")[::2]
            self._previous_attributes.setdefault(
                name, get_module_attributes(sys.modules.get(package)).get(key, MISSING)
            )
        return ModuleSpec(name, self) if name in self._modules else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Part of the interface of a loader: returns the module that is loaded already."""
        module = self._modules[spec.name]
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Part of the interface of a loader: makes the module and everything that comes with it visible again."""
        wanted, module.__spec__ = self._specs.popitem()
        closure = self._closures[wanted]
        repeats: list[Callable[[], None]] = []
        while closure:
            name = self._names[(closure & -closure).bit_length() - 1]
            closure &= closure - 1
            if name in sys.modules and name != wanted:
                continue
            sys.modules[name] = self._modules[name]
            for owner, key, value in self._attributes.get(name, ()):
                setattr(owner, key, value)
            for action, _, category, *_ in self._filters.get(name, ()):
                warnings.simplefilter(action, category)
            repeats += self._warnings.get(name, ())
        for repeat in repeats:
            repeat()


def repeat_warning(message: Warning, category: type, path: str, line: int, namespace: dict[str, Any]) -> None:
    """Repeat a warning as if the module with the globals `namespace` gave it at that line."""
    warnings.warn_explicit(
        message, category, path, line, namespace["__name__"], namespace.setdefault(WARNING_REGISTRY, {})
    )


def get_module_attributes(module: Any) -> dict[str, Any]:
    """The module's attributes; none if `sys.modules` holds something other than a module."""
    attributes: dict[str, Any] = getattr(module, "__dict__", {})
    return attributes


LATE_IMPORTS = """
torch._dynamo torch._decomp.decompositions_for_jvp torch._export.non_strict_utils
torch._export.passes._node_metadata_hook torch._export.passes.lift_constants_pass
torch._export.passes.replace_autocast_with_hop_pass torch._export.passes.replace_set_grad_with_hop_pass
torch._functorch._activation_checkpointing.remat_using_tags_for_fwd_loss_bwd_graph_pass
torch._functorch.aot_autograd torch._functorch._aot_autograd.autograd_cache
torch._functorch._aot_autograd.complex_decomposition torch._functorch._aot_autograd.subclass_codegen
torch._functorch._aot_autograd.subclass_parametrization torch._higher_order_ops.partitioner
torch._inductor.compiler_bisector torch._inductor.config torch._inductor.decomposition torch._inductor.utils
torch._inductor.fx_passes.dedupe_symint_uses torch._inductor.sizevars torch._prims.rng_prims
torch._subclasses.schema_check_mode torch.ao.ns._numeric_suite_fx torch.autograd._functions torch.export._draft_export
torch.export._trace torch.export._wrapper_utils torch.fx.passes.regional_inductor torch.masked.maskedtensor._ops_refs
torch.nested._internal.ops torch.profiler._chrome_trace_export torch.profiler._cupti_monitor
torch.profiler._cupti_monitor_trace torch.sparse._triton_ops torch.testing._internal.optests functorch.compile
functorch.dim._getsetitem functorch.dim._order functorch.einops.rearrange functorch.experimental.control_flow
torchgen.api.cpp torchgen.api.ufunc torchgen.gen_schema_utils
_md5 _pylong _sha1 _sha2 _sha256 _sha3 _strptime bdb cmd doctest getopt importlib.readers multiprocessing.popen_fork
multiprocessing.queues multiprocessing.synchronize pdb plistlib py_compile pydoc pydoc_data.topics sympy.sets.setexpr
sympy.tensor.tensor tracemalloc unicodedata yaml
"""
"""Modules that functions of torch, numpy and Python import while they run. Not every version or machine has all of
them."""

MODULES_NOT_TO_PRELOAD = """
numpy.conftest numpy.distutils numpy.typing.mypy_plugin torch.backends.xeon torch.contrib torch.jit.supported_ops
torch.jit.unsupported_tensor_ops torch.utils.benchmark.utils.compile torch.utils.data.datapipes.gen_pyi
torch.utils.hipify torch.utils.model_dump torch.utils.viz
"""
"""Public modules that no program needs and that print, warn, change Python's logging or take long when they are
imported."""

WITHOUT_SOURCE_PATTERN = re.compile(r"torch\.(_inductor|distributed|onnx)\b")
"""Modules whose lines appear in no traceback of a program. Their source is not cached."""

WARM_UP_IMPORTS = "import datetime, hashlib, inspect, time, numpy, torch; from torch import nn"
WARM_UP_CASES = (
    "x = torch.randn(4, 4, requires_grad=True); repr((x @ x).relu().sum())",  # reads /proc/cpuinfo
    "nn.Conv2d(3, 4, 3)(torch.randn(2, 3, 8, 8)); nn.LSTM(4, 4)(torch.randn(3, 1, 4)); nn.GRU(4, 4)(torch.randn(3, 1, "
    "4))",
    "nn.EmbeddingBag(6, 3)(torch.tensor([[1, 2]])); nn.BatchNorm1d(4)(torch.randn(2, 4)); "
    "nn.LayerNorm(4)(torch.ones(4))",
    "x = torch.randn(3, 2, 8); nn.MultiheadAttention(8, 2)(x, x, x); nn.functional.scaled_dot_product_attention(x, x, "
    "x)",
    "nn.functional.cross_entropy(torch.randn(3, 5), torch.tensor([1, 2, 3])); torch.randn(2).double().exp()",
    "torch.linalg.svd(torch.randn(4, 4)); torch.linalg.solve(torch.eye(2), torch.ones(2)); "
    "torch.fft.fft(torch.ones(8))",
    "torch.einsum('ij,jk', torch.eye(3), torch.eye(3)); torch.randperm(9).sort(); torch.randn(3).bernoulli_()",
    "torch.eye(3).to_sparse() @ torch.eye(3); torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])",
    "torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8).dequantize()",
    "with torch.autocast('cpu', torch.bfloat16): torch.randn(4, 4) @ torch.randn(4, 4)",
    "numpy.linalg.svd(numpy.eye(3)); numpy.random.default_rng(0).normal(size=3); "
    "torch.from_numpy(numpy.ones(2)).numpy()",
    "time.tzset(); datetime.datetime.now().astimezone(); hashlib.sha256(b'').hexdigest()",
    "import platform; platform.platform()",  # reads the interpreter's own file
    "import torch._dynamo; torch._dynamo.list_backends()",  # asks every installed package for its own
    "inspect.getmodule(compile('', '', 'exec'))",  # asks the disk where each module lies, and remembers
)
"""Statements that are run once, in this order, and leave no trace. None runs backward, which would start a thread for
each GPU of the machine."""


def preload_torch() -> None:
    """Import and run what torch would do late, then restore everything that a program could notice. Call it once."""
    with preserving_interpreter_state():
        with PreloadedModulesFinder(__name__).collecting_imports():
            for name in LATE_IMPORTS.split():
                import_if_possible(name)
            for name in sorted(ALLOWED_MODULES | {"encodings"}):
                import_recursively(name)
            for case in WARM_UP_CASES:
                with contextlib.suppress(Exception):  # a test says whether this version can do them all
                    exec(f"{WARM_UP_IMPORTS}\n{case}", {"__name__": "preload"})
                register_thread_origin(f"the warm-up {case!r}")
            fill_linecache()
        gc.collect()
        for _ in range(8):
            bytearray(100_000)  # glibc sorts what is free when it is asked for much: here, or in each child's own copy


def import_recursively(name: str) -> None:
    """Import a module and, if possible, the public modules below it; of a lazy package, those that LAZY_MODULES
    lists."""
    module = import_if_possible(name)
    if module is None:
        return
    for part in SUBMODULES_TO_IMPORT.get(name, ()):
        import_if_possible(part)
    if name in LAZY_MODULES:
        for part in LAZY_MODULES[name]:
            import_recursively(part)
        return
    excluded = {*FORBIDDEN_MEMBERS, *MODULES_NOT_TO_PRELOAD.split(), f"{name}.tests"}
    for below in pkgutil.iter_modules(getattr(module, "__path__", ())):
        full_name = f"{name}.{below.name}"
        if not below.name.startswith("_") and full_name not in excluded:
            import_recursively(full_name)


def import_if_possible(name: str) -> ModuleType | None:
    """Import a module. Returns None if it can't be imported: it needs a package or a system that is not here, or it is
    broken."""
    try:
        return importlib.import_module(name)  # by its name: those of torch and its like, as its version has them
    except BaseException:
        return None
    finally:
        register_import_as_thread_origin(name)


@contextlib.contextmanager
def preserving_interpreter_state() -> Iterator[None]:
    """Restore the state of the interpreter, of torch and of numpy after the block, and discard what is printed
    in it."""
    logged = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a handler that a module makes writes to the error stream that it finds
    collecting, warn_always = gc.isenabled(), torch.is_warn_always_enabled()
    path, environ = list(sys.path), dict(os.environ)
    os.environ.update(ENVIRONMENT)
    generators = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    gc.disable()  # or imports take twice the time
    torch.set_warn_always(True)  # what torch warns of once, it then does not remember
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logged)
        torch.set_warn_always(warn_always)
        random.setstate(generators[0])
        numpy.random.set_state(generators[1])
        torch.set_rng_state(generators[2])
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(environ)
        if collecting:
            gc.enable()


def fill_linecache() -> None:
    """Load the source of torch, numpy and Python into `linecache`: tracebacks show it, and `torch.jit.script`
    needs it."""
    linecache.clearcache()  # it forgets what it read from a file once it can't find the file
    known = {"functorch", "numpy", "torch", "typing_extensions", *sys.stdlib_module_names}
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or "")
        wanted = name.partition(".")[0] in known and not WITHOUT_SOURCE_PATTERN.match(name)
        if wanted and path.suffix == ".py" and path.is_file():
            text = zlib.compress(path.read_bytes(), 1)
            linecache.cache[str(path)] = (functools.partial(decompress_text, text),)


def decompress_text(text: bytes) -> str:
    """The text that `zlib` compressed."""
    return zlib.decompress(text).decode()
