"""After `warm` a child needs no file any more, and a program finds what plain Python and `import torch` would give it.

Two fresh processes fork a child for each program: one has imported torch and no more; the other is warm, and its
children can open no file.
"""

import dis
import importlib.util
import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from gradbox.language.policy import ALLOWED_MODULES
from server.worker.preload import WARM_UP_CASES, WARM_UP_IMPORTS
from tests.agreement import module_programs, optimizer_programs
from tests.server.worker import docstring_programs, preload_programs
from tests.support.sampling import sampled

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
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
    import server.worker.program_run
    from server.worker.preload import preload_torch
    preload_torch()
from tests.forks.huge_pages import join_pages
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

Ask = Callable[..., dict[str, Any]]
IMPORT_NAME = dis.opmap["IMPORT_NAME"]


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


def test_a_child_starts_in_the_state_after_importing_torch(warm: Ask, fresh: Ask) -> None:
    source = STATE.format(modules=" ".join(ALLOWED_MODULES))
    mine, theirs = (json.loads(ADDRESS.sub("0x", ask(source, False)["printed"])) for ask in (warm, fresh))
    packages = {name for name in mine["modules"] if "." in name}
    assert packages == {name for name in theirs["modules"] if "." in name}
    for name, names in theirs.pop("modules").items():
        assert mine["modules"][name] == names, name
    for name, value in theirs.items():
        assert mine[name] == value, name


def groups() -> dict[str, Callable[[], dict[str, str]]]:
    def files(folder: str, part: int, count: int) -> dict[str, str]:
        return {path.stem: path.read_text() for path in sorted((ROOT / folder).glob("*.py"))[part::count]}

    def seeds() -> dict[str, str]:
        if not SEEDS.exists():
            pytest.skip("../shared/seeds is missing: the articles' programs were not run without files")
        return {snippet["id"]: snippet["program"] for snippet in json.loads(SEEDS.read_text())}

    def docstrings(part: int) -> dict[str, str]:  # ten in one child
        programs = list(docstring_programs.programs())[part::3]
        tens = [dict(programs[k : k + 10]) for k in range(0, len(programs), 10)]
        return {" ".join(ten): TOGETHER.format(list(ten.values())) for ten in tens}

    def bodies(of: Any, part: int, count: int) -> dict[str, str]:
        return {name: module_programs.HEAD + of.body(name) for name in [*of.names()][part::count]}

    return {
        **{f"programs {part}": partial(files, "tests/examples/programs", part, 3) for part in range(3)},
        **{f"scenarios {part}": partial(files, "scenarios", part, 3) for part in range(3)},
        "pastes": partial(files, "tests/examples/pastes", 0, 1),
        "seeds": seeds,
        **{f"docstrings {part}": partial(docstrings, part) for part in range(3)},
        **{f"modules {part}": partial(bodies, module_programs, part, 4) for part in range(4)},
        "optimizers": partial(bodies, optimizer_programs, 0, 1),
    }


TOGETHER = """\
for source in {!r}:
    try:
        exec(compile(source, "<program>", "exec"), {{"__name__": "__main__"}})
    except BaseException:
        pass
"""


@pytest.mark.parametrize("group", sampled([*groups()], lambda k: [*groups()][k][-1] not in "123"))
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
    r"|torch\.utils\._cxx_pytree|triton|PIL\b|pytest|sqlite3|smtplib|_aix_support|_ios_support|_osx_support"
    r"|einops\.layers\.(keras|oneflow|paddle|tensorflow)|multiprocessing\.|concurrent\.|encodings\.(mbcs|oem)"
)
"""Modules that may be missing: what is compiled or tested with them, what needs other packages, systems or
processes."""


def test_every_import_in_a_function_finds_its_module(warm: Ask) -> None:
    listed = """
        import json, sys
        every = {**sys.modules, **next(one._modules for one in sys.meta_path if type(one).__name__ == "PreloadedModulesFinder")}
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


def within(name: str, path: Path) -> set[str]:
    """What functions of a module import, with the names that may be modules of a package."""
    modules: set[str] = set()
    code = SourceFileLoader(name, str(path)).get_code(name) if path.is_file() else None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for level, names, wanted in imports_of_functions(code):
        module = importlib.util.resolve_name("." * level + wanted, package)
        modules.update([module, *(f"{module}.{name}" for name in names or ())])
    return modules


def imports_of_functions(code: CodeType | None, inside: bool = False) -> Iterator[tuple[int, Any, str]]:
    """Of each import in a function of this code: its level, the names that it takes or None, its module."""
    if code and inside and IMPORT_NAME in code.co_code[::2]:
        before: list[Any] = []
        for one in dis.get_instructions(code):
            if one.opcode == IMPORT_NAME:
                yield before[-2], before[-1], one.argval
            elif one.opname != "EXTENDED_ARG":
                before = [*before[-1:], one.argval]
    for constant in code.co_consts if code else ():
        if isinstance(constant, CodeType):
            yield from imports_of_functions(constant, inside or bool(constant.co_flags & inspect.CO_OPTIMIZED))


def test_every_warm_up_case_runs(warm: Ask) -> None:
    result = warm("\n".join([WARM_UP_IMPORTS, *WARM_UP_CASES, "print('done')"]), False)
    assert (result["error"], result["printed"].split("\n")[-2]) == (None, "done")


def test_hidden_modules_come_back_unchanged(warm: Ask) -> None:
    result = warm(
        textwrap.dedent("""
        import importlib, sys, warnings
        warnings.simplefilter("ignore")
        hidden = next(one for one in sys.meta_path if type(one).__name__ == "PreloadedModulesFinder")
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


@pytest.mark.parametrize("names", preload_programs.CHILDREN, ids=", ".join)
def test_programs_run_as_in_a_fresh_process(names: tuple[str, ...], warm: Ask, fresh: Ask) -> None:
    source = "".join(textwrap.dedent(preload_programs.PROGRAMS[name]) for name in names)
    mine, theirs = warm(source), fresh(source, False)
    assert ADDRESS.sub("0x", mine["printed"]) == LOGGED.sub("", ADDRESS.sub("0x", theirs["printed"]))
    assert mine["error"] == theirs["error"] is None
    assert [path for path in mine["files"] if Path(path).exists()] == []
