"""Does once, before the first fork, what torch does late, because a child may open no file.

What a program may import, and what torch imports while a program runs, is imported here, and then hidden.
A few statements have the libraries read what they want to know of the machine. All else is put back: a child begins
with what `import torch` leaves.
"""

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
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy
import numpy.random
import torch

from gradbox.language.policy import ALLOWED_MODULES, CLOSED_MEMBERS
from server.worker.hidden_modules import HiddenModules
from server.worker.threads import note_import, note_origin

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
"""What functions of torch, numpy and Python import while they run. Not every version or machine has all of it."""

EXCLUDED = """
numpy.conftest numpy.distutils numpy.typing.mypy_plugin torch.backends.xeon torch.contrib torch.jit.supported_ops
torch.jit.unsupported_tensor_ops torch.utils.benchmark.utils.compile torch.utils.data.datapipes.gen_pyi
torch.utils.hipify torch.utils.model_dump torch.utils.viz
"""
"""Public modules that serve no program, and print, warn or change how Python logs on import, or take long."""

WITHOUT_SOURCE = re.compile(r"torch\.(_inductor|distributed|onnx)\b")
"""Modules whose lines no traceback of a program shows: their source is not cached."""

WARM_UP_IMPORTS = "import datetime, hashlib, inspect, time, numpy, torch; from torch import nn"
WARM_UP_CASES = (
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
    "import platform; platform.platform()",  # reads the interpreter's own file
    "import torch._dynamo; torch._dynamo.list_backends()",  # asks every installed package for its own
    "inspect.getmodule(compile('', '', 'exec'))",  # asks the disk where each module lies, and remembers
)
"""Run once, in this order; they leave no trace. None runs backward: that makes a thread for each GPU of the machine."""


def preload() -> None:
    """Import and run what torch would do late, then put back what a program could notice. To be called once."""
    with preserved_state():
        with HiddenModules(__name__).collecting():
            for name in LATE_IMPORTS.split():
                import_if_possible(name)
            for name in sorted(ALLOWED_MODULES | {"encodings"}):
                import_recursively(name)
            for case in WARM_UP_CASES:
                with contextlib.suppress(Exception):  # a test says whether this version can do them all
                    exec(f"{WARM_UP_IMPORTS}\n{case}", {"__name__": "preload"})
                note_origin(f"the warm-up {case!r}")
            fill_linecache()
        gc.collect()
        for _ in range(8):
            bytearray(100_000)  # glibc sorts what is free when it is asked for much: here, or in each child's own copy


def import_recursively(name: str) -> None:
    """Import a module and the public ones below it, where they can be imported."""
    module = import_if_possible(name)
    if module is None:
        return
    excluded = {*CLOSED_MEMBERS, *EXCLUDED.split(), f"{name}.tests"}
    for below in pkgutil.iter_modules(getattr(module, "__path__", ())):
        full_name = f"{name}.{below.name}"
        if not below.name.startswith("_") and full_name not in excluded:
            import_recursively(full_name)


def import_if_possible(name: str) -> ModuleType | None:
    """The module; None where it can't be imported: it wants what is not installed, or another system, or is broken."""
    try:
        return importlib.import_module(name)
    except BaseException:
        return None
    finally:
        note_import(name)


@contextlib.contextmanager
def preserved_state() -> Iterator[None]:
    """Restore the state of the interpreter, of torch and of numpy at the end, and discard what is printed within."""
    logged = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a handler that a module makes writes to the error stream that it finds
    collecting, warn_always = gc.isenabled(), torch.is_warn_always_enabled()
    path, environ = list(sys.path), dict(os.environ)
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
    """Have `linecache` know the source of torch, numpy and Python: tracebacks show it, `torch.jit.script` needs it."""
    linecache.clearcache()  # it forgets what it read from a file once it can't find the file
    known = {"functorch", "numpy", "torch", "typing_extensions", *sys.stdlib_module_names}
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or "")
        wanted = name.partition(".")[0] in known and not WITHOUT_SOURCE.match(name)
        if wanted and path.suffix == ".py" and path.is_file():
            text = zlib.compress(path.read_bytes(), 1)
            linecache.cache[str(path)] = (functools.partial(decompress_text, text),)


def decompress_text(text: bytes) -> str:
    """The text that `zlib` compressed."""
    return zlib.decompress(text).decode()
