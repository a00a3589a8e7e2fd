"""After `warm` a child needs no file any more, and a program finds what plain Python and `import torch` would give it.

Two fresh processes fork a child for each program: one has imported torch and no more; the other is warm, and its
children can open no file.
"""

import ast
import importlib.util
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from server.language.policy import ALLOWED_MODULES
from server.worker.preload import WARM_UP_CASES, WARM_UP_IMPORTS
from tests import docstring_programs, module_programs, optimizer_programs

pytestmark = [pytest.mark.slow, pytest.mark.beside]

ROOT = Path(__file__).parent.parent
SEEDS = ROOT.parent / "shared/seeds/snippets.json"
ADDRESS = re.compile(r"0x[0-9a-f]+")
LOGGED = re.compile(r"^W\d{4} \d\d:.*cpp_extension\.py.*\n", re.M)
"""What torch built for CUDA logs, with the time, when it finds a compiler for CUDA and no GPU."""

HOST = r"""
import contextlib, io, json, linecache, os, random, signal, sys, types
empty = sys.argv[2]
import numpy.random, torch
torch.set_num_threads(1)
if sys.argv[1] == "warm":
    import server.worker.run
    from server.worker.preload import preload
    preload()
from tests.huge_pages import join_pages
join_pages()
assert len(os.listdir("/proc/self/task")) == 1

def answer(source, shut):
    signal.alarm(60)
    files, wanted, watching = [], set(), []
    def hook(event, given):
        if not watching:
            return
        if event in ("open", "ctypes.dlopen") and not isinstance(given[0], int):
            files.append(str(given[0]))
        if event == "import":
            wanted.add(given[0])
        elif shut and event in ("open", "os.listdir", "os.scandir") and not isinstance(given[0], int):
            raise FileNotFoundError(2, "No such file or directory", given[0])
    if shut and os.geteuid() == 0:
        os.chroot(empty)  # so that C++ finds no file either
        os.chdir("/")
    torch.default_generator.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv = ["<program>"]
    linecache.cache["<program>"] = (len(source), None, source.splitlines(True), "<program>")
    sys.addaudithook(hook)
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        watching.append(True)
        try:
            exec(compile(source, "<program>", "exec"), module.__dict__)
        except BaseException as raised:
            error = [type(raised).__name__, str(raised)]
        watching.clear()
    absent = sorted(wanted - sys.modules.keys())
    return {"printed": out.getvalue(), "error": error, "files": files, "absent": absent}

for line in sys.stdin:
    source, shut = json.loads(line)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with open(write, "w") as pipe:
            json.dump(answer(source, shut), pipe)
        os._exit(0)
    os.close(write)
    with open(read) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    print(told or "null", file=sys.__stdout__, flush=True)
"""

Ask = Callable[[str], dict[str, Any]]


def host(kind: str, empty: Path) -> Iterator[Ask]:
    single_threaded = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, kind, str(empty)],
        cwd=ROOT,
        env={**single_threaded, "PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    given, output = process.stdin, process.stdout

    def ask(source: str, shut: bool = kind == "warm") -> dict[str, Any]:
        print(json.dumps([source, shut]), file=given, flush=True)
        response: dict[str, Any] | None = json.loads(output.readline())
        assert response is not None, "the child died"
        return response

    yield ask
    given.close()
    output.close()
    assert process.wait() == 0


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    yield from host("warm", tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    yield from host("fresh", tmp_path_factory.mktemp("empty"))


STATE = r"""
import gc, json, locale, logging, os, sys, threading, decimal, numpy, torch, warnings, builtins, random, signal, linecache
tops = set("{modules}".split())
state = {{
    "dtype": str(torch.get_default_dtype()), "device": str(torch.get_default_device()),
    "grad": [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()],
    "print": vars(torch._tensor_str.PRINT_OPTS), "numpy print": numpy.get_printoptions(), "numpy err": numpy.geterr(),
    "threads": [torch.get_num_threads(), torch.get_num_interop_threads(), threading.active_count()],
    "tasks": len(os.listdir("/proc/self/task")), "cuda": torch.cuda.is_initialized(),
    "files": len(os.listdir("/proc/self/fd")),
    "exact": [torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision()],
    "fill": torch.utils.deterministic.fill_uninitialized_memory,
    "autocast": [torch.is_autocast_enabled("cpu"), str(torch.get_autocast_dtype("cpu")), torch.is_autocast_cache_enabled()],
    "modes": [torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()],
    "backends": [torch.backends.mkldnn.enabled, torch.backends.mkldnn.flags.__module__, torch.backends.quantized.engine],
    "swap": [torch.__future__.get_swap_module_params_on_conversion(), torch.sparse.check_sparse_tensor_invariants.is_enabled()],
    "warn": [torch.is_warn_always_enabled(), str(warnings.filters), str(warnings.onceregistry), str(warnings.showwarning)],
    "registries": sorted(name for name, module in sys.modules.items() if "__warningregistry__" in getattr(module, "__dict__", ())),
    "path": sys.path, "cwd": os.getcwd(), "argv": sys.argv, "environ": dict(os.environ), "locale": locale.setlocale(locale.LC_ALL),
    "builtins": sorted(vars(builtins)), "import": repr(builtins.__import__),
    "limits": [sys.getrecursionlimit(), sys.get_int_max_str_digits(), sys.getswitchinterval()],
    "hooks": [repr(getattr(sys, name)) for name in ("excepthook", "displayhook", "unraisablehook", "breakpointhook")],
    "traced": [sys.gettrace(), sys.getprofile(), threading.gettrace()],
    "gc": [gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks), gc.garbage],
    "decimal": repr(decimal.getcontext()),
    "logging": [repr(logging.root), repr(logging.root.handlers), logging.root.manager.disable, logging._srcfile],
    "signals": [repr(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
    "counters": [torch.utils.hooks.RemovableHandle.next_id, torch.fx.graph_module._loader.next_id],
    "nested": getattr(sys.modules.get("torch.nested._internal.nested_tensor"), "_tensor_id_counter", None),
    "device type": getattr(torch.utils.checkpoint.DefaultDeviceType, "_default_device_type", None),
    "modules": {{
        name: sorted(vars(module).keys() - {{"__warningregistry__", "__builtins__"}})
        for name, module in sys.modules.items()
        if name.partition(".")[0] in tops and hasattr(module, "__dict__") and name != "torch.ops"
    }},
    "steps": sorted(kind.__name__ for kind in vars(torch.optim).values() if isinstance(kind, type) and hasattr(kind.step, "hooked")),
    "seed": repr(torch.manual_seed.__qualname__) + repr(hasattr(torch.manual_seed, "__wrapped__")),
}}
print(json.dumps(state, default=str))
"""


def test_a_child_begins_with_what_importing_torch_leaves(warm: Ask, fresh: Ask) -> None:
    source = STATE.format(modules=" ".join(ALLOWED_MODULES))
    mine, theirs = (json.loads(ADDRESS.sub("0x", ask(source, False)["printed"])) for ask in (warm, fresh))
    packages = {name for name in mine["modules"] if "." in name}
    assert packages == {name for name in theirs["modules"] if "." in name}
    for name, names in theirs.pop("modules").items():
        assert mine["modules"][name] == names, name
    for name, value in theirs.items():
        assert mine[name] == value, name


def groups() -> dict[str, Callable[[], dict[str, str]]]:
    def files(folder: str) -> dict[str, str]:
        return {path.stem: path.read_text() for path in sorted((ROOT / folder).glob("*.py"))}

    def seeds() -> dict[str, str]:
        if not SEEDS.exists():
            pytest.skip("../shared/seeds is missing: the articles' programs were not run without files")
        return {snippet["id"]: snippet["program"] for snippet in json.loads(SEEDS.read_text())}

    def docstrings() -> dict[str, str]:  # ten in one child
        every = list(docstring_programs.programs())
        tens = [dict(every[k : k + 10]) for k in range(0, len(every), 10)]
        return {" ".join(ten): TOGETHER.format(list(ten.values())) for ten in tens}

    def bodies(of: Any) -> dict[str, str]:
        return {name: module_programs.HEAD + of.body(name) for name in of.names()}

    return {
        "programs": lambda: files("tests/programs"),
        "scenarios": lambda: files("scenarios"),
        "pastes": lambda: files("tests/pastes"),
        "seeds": seeds,
        "docstrings": docstrings,
        "modules": lambda: bodies(module_programs),
        "optimizers": lambda: bodies(optimizer_programs),
    }


TOGETHER = """\
for source in {!r}:
    try:
        exec(compile(source, "<program>", "exec"), {{"__name__": "__main__"}})
    except BaseException:
        pass
"""


@pytest.mark.parametrize("group", groups())
def test_no_program_looks_for_a_file(group: str, warm: Ask) -> None:
    late = {}
    for name, source in groups()[group]().items():
        result = warm(source)
        files = [path for path in result["files"] if Path(path).exists()] + [
            name for name in result["absent"] if exists(name)
        ]
        if files:
            late[name] = files
    assert late == {}


def exists(name: str) -> bool:
    """Whether a module lies on the disk; nothing is imported to find out."""
    path: Any = sys.path
    for k in range(len(parts := name.split("."))):
        spec = PathFinder.find_spec(".".join(parts[: k + 1]), path)
        if spec is None:
            return False
        path = spec.submodule_search_locations or []
    return True


UNUSED = re.compile(
    r"torch\.(_dynamo|_inductor|_native|cuda|distributed|mps|nn\.parallel|onnx|testing|xpu|_functorch\._aot_autograd)\b"
    r"|torch\.(_functorch\.(partitioners|compile_utils)|_library\.triton|utils\.(_debug_mode|cpp_extension|hipify))\b"
    r"|torch\._higher_order_ops\.(triton_kernel_wrap|local_map)|torch\.export\.experimental|torch\._prims\.debug_prims"
    r"|torch\._export\.db|numpy\.(f2py|testing|_pytesttester|distutils)\b"
)
"""Modules that no program here comes to: the compiler's, several machines', other devices', tests'."""

EXCUSED = re.compile(
    r"torch\.(_inductor|_native|cuda|distributed)\b|numpy\.distutils\b"
    r"|torch\._dynamo\.(backends|dce_extra_outputs|debug_utils|polyfills\.pytree|repro|tensor_version_op|testing)\b"
    r"|torch\._functorch\._activation_(checkpointing|offloading)\b|torch\._higher_order_ops\.(passes|register_hook)\b"
    r"|torch\.testing\._internal\b|torch\.(_precompile_driver|profiler\._cuspy)\b"
    r"|torch\.utils\._cxx_pytree|triton|pytest|sqlite3|smtplib|_aix_support|_osx_support"
    r"|einops\.layers\.(keras|oneflow|paddle|tensorflow)|multiprocessing\.|concurrent\.|encodings\.(mbcs|oem)"
)
"""Modules that may be missing: what is compiled or tested with them, what needs other packages, systems or processes."""


def test_every_import_in_a_function_finds_its_module(warm: Ask) -> None:
    listed = """
        import json, sys
        every = {**sys.modules, **next(one._modules for one in sys.meta_path if type(one).__name__ == "HiddenModules")}
        print(json.dumps({name: getattr(module, "__file__", None) for name, module in every.items()}))
    """
    loaded: dict[str, str | None] = json.loads(warm(textwrap.dedent(listed), False)["printed"])
    late: dict[str, list[str]] = {}
    for name, path in loaded.items():
        if (
            name.partition(".")[0] in ALLOWED_MODULES | {"functorch"}
            and not UNUSED.match(name)
            and str(path).endswith(".py")
        ):
            for wanted in within(name, Path(str(path))):
                if wanted not in loaded and not EXCUSED.match(wanted):
                    late.setdefault(wanted, []).append(name)
    assert {wanted: users for wanted, users in late.items() if exists(wanted)} == {}


INDENTED_IMPORT = re.compile(r"(?:^[ \t]+|[:;][ \t]*)(?:import|from)\b", re.MULTILINE)
"""What a text has whose functions import something."""


def outermost_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The functions below a node that stand in no other function below it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from outermost_functions(child)


def within(name: str, path: Path) -> set[str]:
    """What functions of a module import, with the names that may be modules of a package."""
    modules: set[str] = set()
    text = path.read_text() if path.is_file() else ""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    if not INDENTED_IMPORT.search(text):
        return modules
    for node in (inner for function in outermost_functions(ast.parse(text)) for inner in ast.walk(function)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            modules.update([module, *(f"{module}.{alias.name}" for alias in node.names)])
    return modules


def test_every_case_runs(fresh: Ask) -> None:
    result = fresh("\n".join([WARM_UP_IMPORTS, *WARM_UP_CASES, "print('done')"]), False)
    assert (result["error"], result["printed"].split("\n")[-2]) == (None, "done")


def test_every_module_comes_back_as_it_was(warm: Ask) -> None:
    result = warm(
        textwrap.dedent("""
        import importlib, sys, warnings
        warnings.simplefilter("ignore")
        hidden = next(one for one in sys.meta_path if type(one).__name__ == "HiddenModules")
        for name, module in reversed(hidden._modules.items()):
            assert importlib.import_module(name) is sys.modules[name] is module, name
            spec = module.__spec__
            assert spec is None or (spec.loader is not hidden and spec.name == module.__name__), (name, spec)
            package, _, key = name.rpartition(".")
            assert not package or hasattr(sys.modules[package], key), name
        print(len(hidden._modules))
    """)
    )
    assert result["error"] is None
    assert int(result["printed"]) > 500


SAME = {
    "imports of every form": """
        import torch
        for look in (lambda: torch.nn.utils.prune, lambda: torch.utils.benchmark.Timer, lambda: torch.fx.passes.shape_prop):
            try:
                look()
            except AttributeError as error:
                print(error)
        print(hasattr(torch.utils, "flop_counter"), "prune" in dir(torch.nn.utils), "_dynamo" in vars(torch))
        import torch.nn.utils.prune
        import torch.utils.benchmark as benchmark
        from torch.utils import flop_counter
        from torch.fx.passes.shape_prop import ShapeProp
        from torch.nn.utils.parametrizations import *
        from torch.ao.pruning import *
        print(torch.nn.utils.prune.__name__, benchmark.Timer, flop_counter.__spec__.name, ShapeProp)
        import logging.handlers, json.tool, numpy.ma, numpy.polynomial.chebyshev, collections.abc
        print(logging.handlers.__file__, json.tool.__loader__, numpy.ma.masked, numpy.polynomial.chebyshev.__spec__)
        for name in ("torch.nn.nothing", "torch.nothing", "einops.layers"):
            try:
                __import__(name)
            except ImportError as error:
                print(type(error), error, error.name)
        print(sorted(name for name in vars(torch) if not name.startswith("__")))
        torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0).step()
        print(sorted(name for name in vars(torch) if not name.startswith("__")), torch.manual_seed.__wrapped__)
    """,
    "every module": """
        import {modules}
        import importlib
        for name in "{modules}".split(","):
            print(sorted(dir(importlib.import_module(name))))
    """.format(modules=",".join(sorted(ALLOWED_MODULES - {"__future__"}))),
    "warned once": """
        import torch, warnings
        from torch import nn
        from torch.nn import functional as F
        ones, leaf = torch.ones, lambda: torch.ones(2, requires_grad=True)
        acts = [
            lambda: torch.nested.nested_tensor([ones(2)]),
            lambda: torch.eye(2).to_sparse_csr(),
            lambda: leaf().mul(2).grad,
            lambda: ones(1, 2, 3).T,
            lambda: torch.tensor(ones(1)),
            lambda: torch.meshgrid(ones(2), ones(2)),
            lambda: torch.range(0, 1),
            lambda: ones(2).storage(),
            lambda: ones(2, names=("n",)),
            lambda: F.softmax(ones(2)),
            lambda: F.mse_loss(ones(2), ones(1)),
            lambda: F.sigmoid(ones(2)),
            lambda: nn.L1Loss(size_average=True),
            lambda: nn.LazyLinear(2),
            lambda: nn.utils.weight_norm(nn.Linear(2, 2)),
            lambda: torch.cross(ones(3, 3), ones(3, 3)),
            lambda: torch.masked.masked_tensor(ones(2), torch.tensor([True, False])),
            lambda: torch.empty(2, dtype=torch.complex32),
            lambda: torch.view_as_complex(ones(2)).real.add_(torch.view_as_complex(ones(2))),
            lambda: torch.complex(ones(2), ones(2)).float(),
            lambda: leaf().square().sum().backward(create_graph=True),
            lambda: torch.vmap(lambda x: F.ctc_loss(x, torch.tensor([[1]]), [2], [1]))(torch.zeros(2, 2, 1, 3)),
            lambda: torch.vmap(torch.Tensor.resolve_neg)(ones(2)),
            lambda: torch.vmap(lambda x: torch.histc(x, 2))(ones(2, 2)),
            lambda: torch.cuda.amp.GradScaler(),
            lambda: torch.quantize_per_tensor(ones(2), 0.1, 0, torch.qint8),
            lambda: torch.ao.quantization.quantize_dynamic(nn.Linear(2, 2)),
            lambda: torch.jit.script(nn.ReLU()),
            lambda: torch.add(ones(2), 1, out=ones(3)),
            lambda: ones(2).expand(2, 2).resize_(1),
            lambda: ones(2).masked_fill(torch.ones(2, dtype=torch.uint8), 1),
            lambda: ones(2)[torch.ones(2, dtype=torch.uint8)],
            lambda: torch.std(ones(1)),
            lambda: torch.lu(torch.eye(2)),
            lambda: torch.chain_matmul(torch.eye(2), torch.eye(2)),
            lambda: torch.from_numpy(numpy.broadcast_to(numpy.ones(1), 2)),
            lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1), 1),
            lambda: nn.Linear(0, 1),
            lambda: nn.LSTM(2, 2, dropout=0.5),
            lambda: nn.LSTM(2, 3, proj_size=2)(ones(1, 1, 2)),
            lambda: nn.Upsample(2, mode="bilinear")(ones(1, 1, 2, 2)),
            lambda: F.interpolate(ones(1, 1, 2), scale_factor=1.5, recompute_scale_factor=True),
            lambda: F.dropout2d(ones(1, 2)),
            lambda: F.kl_div(ones(2), ones(2)),
            lambda: F.grid_sample(ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)),
            lambda: torch.stft(ones(16), 4, return_complex=True),
            lambda: torch.utils.checkpoint.checkpoint(torch.sin, leaf()),
            lambda: torch.utils.checkpoint.checkpoint(torch.sin, ones(1), use_reentrant=True),
            lambda: torch.autograd.backward(leaf().sum(), retain_variables=True),
            lambda: torch.autograd.Variable(ones(1), volatile=True),
            lambda: torch.set_default_tensor_type(torch.FloatTensor),
            lambda: torch.ones(2).__floordiv__(2),
            lambda: nn.Module().register_module("x", None),
            lambda: warnings.warn("again"),
        ]
        import numpy
        for _ in range(2):
            for place, act in enumerate(acts):
                try:
                    act()
                except Exception as error:
                    print(place, error)
        warnings.simplefilter("always")
        torch.jit.trace(torch.sin, torch.ones(1))
        import numpy.matlib
    """,
    "warned between imports": """
        import torch, warnings
        weight = torch.ones(1, requires_grad=True)
        for _ in range(3):
            warnings.warn("once, and once more after what the first optimizer imports")
            optimizer = torch.optim.SGD([weight], lr=1.0)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
            schedule.step()
            optimizer.step()
    """,
    "warned between transforms": """
        import torch, warnings
        for _ in range(3):
            warnings.warn("once, and once more after what the first transform imports")
            torch.fft.fft2(torch.ones(2, 2))
            torch.broadcast_shapes((1,), (2,))
            torch.func.grad(torch.sin)(torch.ones(()))
    """,
    "tracebacks": """
        import torch, traceback, numpy
        def tell(act, *given, **named):
            try:
                act(*given, **named)
            except BaseException:
                print(traceback.format_exc())
        tell(torch.nn.Sequential(torch.nn.Linear(2, 3)), torch.ones(3, 3))
        x = torch.ones(2, requires_grad=True)
        y = x.exp().sum()
        y.backward()
        tell(y.backward)
        tell(lambda: x.gard)
        tell(lambda: torch.onse)
        tell(lambda: numpy.onse)
        tell(lambda: undefined)
        tell(lambda: optimize)
        optimizer = torch.optim.SGD([x], lr=1.0)
        tell(optimizer.step, lambda: 1 / 0)
        tell(torch.manual_seed, "x")
        tell(torch.vmap(lambda x: x.item()), torch.ones(2))
        tell(torch.distributions.Normal, 0.0, -1.0)
        tell(torch.utils.checkpoint.checkpoint, torch.matmul, x, torch.ones(3), use_reentrant=False)
        tell(torch.jit.script, lambda: 1)
        tell(next, iter(torch.utils.data.DataLoader([1, "a", None])))
        tell(numpy.linalg.inv, numpy.zeros((2, 2)))
        tell(torch.func.grad(lambda x: x), torch.ones(2))
        tell(torch.nn.Linear(2, 2).load_state_dict, {{}})
        tell(__import__("json").loads, "[")
        tell(__import__("statistics").mean, [])
    """.replace("{{", "{").replace("}}", "}"),
    "source": """
        import inspect, torch, collections
        print(inspect.getsource(torch.nn.Linear.forward), inspect.getsource(torch.nn.functional.relu))
        print(inspect.getsourcefile(torch.optim.SGD), inspect.getsourcelines(collections.Counter.update)[1])
        def own(x):
            return x
        print(inspect.getsource(own), inspect.signature(torch.optim.Adam))
        help(torch.nn.ReLU)
        help("for")
        torch.nn.Linear.__doc__
    """,
    "scripts": """
        import torch
        class Own(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 2)
            def forward(self, x):
                return self.layer(x).relu()
        print(torch.jit.script(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2))).graph)
        print(torch.jit.script(Own()).code, torch.jit.script(Own()).graph, torch.jit.trace(Own(), torch.ones(2)).graph)
        traced = torch.fx.symbolic_trace(Own())
        print(traced.code, traced.graph, traced.forward.__code__.co_filename)
        print(torch.func.functionalize(lambda x: x.clone().add_(1))(torch.ones(2)))
    """,
    "counters": """
        import torch
        layer = torch.nn.Linear(1, 1)
        print(layer.register_forward_hook(print).id, list(layer._forward_hooks))
        x = torch.ones(1, requires_grad=True)
        print(x.register_hook(print).id, list(x._backward_hooks))
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
        print(nested.shape, nested)
        print(torch.utils.checkpoint.DefaultDeviceType.get_device_type(), torch.is_warn_always_enabled())
        print([type(kind) for kind in (torch.Tensor, torch.nn.Module)], torch.initial_seed())
        m = torch.nn.ModuleDict({"a": torch.nn.Linear(1, 1)})
        print(hash("x"), len(set(map(id, m.parameters()))), torch.get_rng_state().sum())
    """,
    "numbers": """
        import hashlib, torch, numpy, random, statistics, decimal, datetime, time, struct
        def told(*tensors):
            print(hashlib.sha256(b"".join(t.detach().contiguous().view(torch.uint8).numpy().tobytes() for t in tensors)).hexdigest())
        x = torch.randn(64, 64, requires_grad=True)
        told(x, x.exp(), x.tanh(), x @ x, x.softmax(0), x.sum(0), x.cumsum(0), torch.linalg.qr(x)[1], torch.fft.fft(x))
        told(x.bfloat16() @ x.bfloat16(), x.double().erf(), x.half().exp())
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(3))
        net(x.view(1, 1, 64, 64)).sum().backward()
        told(x.grad, *net.parameters())
        told(*torch.nn.LSTM(64, 8)(x)[1], torch.nn.EmbeddingBag(9, 8)(torch.tensor([[1, 2]])))
        told(torch.ops.quantized.linear_dynamic(x, torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), None)))
        print(numpy.linalg.eigvals(x.detach().numpy()).sum(), numpy.random.rand(), random.random(), random.gauss(0, 1))
        print(statistics.stdev([1, 2, 4]), decimal.Decimal(1) / 3, decimal.getcontext())
        print(datetime.datetime.fromtimestamp(0), datetime.datetime.fromtimestamp(0).astimezone(), time.strftime("%Z", time.localtime(0)))
        print(datetime.datetime.strptime("1 May 2024", "%d %B %Y"), "\\N{BULLET}", "中".encode("gbk"), b"\\xe9".decode("cp1252"))
        print(int("9" * 4000) ** 9 % 7, str(10**4000)[:9], f"{1e300:,}", hashlib.new("sha3_256").name, hashlib.scrypt(b"", salt=b"", n=2, r=1, p=1))
        print(torch.__config__.parallel_info(), torch.backends.cpu.get_cpu_capability(), torch.cuda.is_available())
    """,
    "modes": """
        import torch, copy, weakref
        import torch.autograd.forward_ad as forward_ad
        from torch.utils._python_dispatch import TorchDispatchMode
        from torch.utils.flop_counter import FlopCounterMode
        class Log(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                print(function, types)
                return function(*args, **(kwargs or {}))
        with Log():
            torch.nn.Linear(2, 2)(torch.ones(2)).sum().backward()
        with FlopCounterMode(display=False):
            torch.ones(2, 2) @ torch.ones(2, 2)
        with forward_ad.dual_level():
            print(forward_ad.make_dual(torch.ones(2), torch.ones(2)).exp())
        print(torch.func.jacfwd(torch.sin)(torch.ones(2)), torch.func.hessian(lambda x: x.sin().sum())(torch.ones(2)))
        print(torch.func.linearize(torch.sin, torch.ones(2))[1](torch.ones(2)))
        print(torch.autograd.functional.jacobian(torch.exp, torch.ones(2)))
        print(torch.autograd.gradcheck(torch.sin, torch.ones(2, dtype=torch.double, requires_grad=True)))
        print(list(torch.utils.data.DataLoader(range(4), batch_size=2, shuffle=True)))
        print(copy.deepcopy(torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))))
        print(torch.distributions.kl_divergence(*(torch.distributions.Normal(0.0, k) for k in (1.0, 2.0))))
        print(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(2),)).graph)
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.proxy_tensor import make_fx
        with FakeTensorMode():
            print(torch.ones(2) + 1)
        print(make_fx(torch.sin)(torch.ones(1)).code)
        from torch.nn.attention import SDPBackend
        print(torch.func.rearrange(torch.ones(2, 3), "a b -> b a") if hasattr(torch.func, "rearrange") else SDPBackend.MATH)
        print(torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False])).sum())
    """,
}
"""Programs that would notice most: they print the same in a warm child as in a fresh one."""


@pytest.mark.parametrize("name", SAME)
def test_it_runs_as_in_a_fresh_process(name: str, warm: Ask, fresh: Ask) -> None:
    source = textwrap.dedent(SAME[name])
    mine, theirs = warm(source), fresh(source, False)
    assert ADDRESS.sub("0x", mine["printed"]) == LOGGED.sub("", ADDRESS.sub("0x", theirs["printed"]))
    assert mine["error"] == theirs["error"] is None
    assert [path for path in mine["files"] if Path(path).exists()] == []
