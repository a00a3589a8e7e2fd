"""Nothing of one run reaches the next, nor one that runs at the same time: every program finds the same fresh world."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from gradbox.wire.api import Job
from gradbox.wire.trace import Trace, trace_document
from server.pool.local import LocalPool
from server.settings import Settings
from tests.support.waiting import PATIENT

pytestmark = pytest.mark.attack

AGAIN = 2
"""Runs that take the children which were forked ahead; the next one was forked when all before had ended."""

# what a program changes, and what shows it: both find torch, numpy as np, sys and `load`, which imports any module
CHANGES = {
    "default dtype": ("torch.set_default_dtype(torch.float64)", "torch.ones(1).dtype, torch.get_default_dtype()"),
    "default device": ("torch.set_default_device('meta')", "torch.ones(1).device, torch.get_default_device()"),
    "grad mode": ("torch.set_grad_enabled(False)", "torch.is_grad_enabled()"),
    "inference mode": ("kept = torch.inference_mode()\nkept.__enter__()", "torch.ones(1).is_inference()"),
    "anomaly mode": ("torch.autograd.set_detect_anomaly(True)", "torch.is_anomaly_enabled()"),
    "autocast": ("torch.set_autocast_enabled('cpu', True)", "torch.is_autocast_enabled('cpu')"),
    "deterministic algorithms": ("torch.use_deterministic_algorithms(True)", "torch.are_deterministic_algorithms_enabled()"),
    "filled memory": ("torch.utils.deterministic.fill_uninitialized_memory = False", "torch.utils.deterministic.fill_uninitialized_memory"),
    "float32 precision": ("torch.set_float32_matmul_precision('medium')", "torch.get_float32_matmul_precision()"),
    "denormal numbers": ("torch.set_flush_denormal(True)", "(torch.tensor([1e-310], dtype=torch.float64) / 2).item()"),
    "torch's print options": ("torch.set_printoptions(precision=2, sci_mode=True)", "torch.tensor([1 / 3])"),
    "torch's warnings": ("torch.set_warn_always(True)", "torch.is_warn_always_enabled()"),
    "torch's threads": ("torch.set_num_threads(2)", "torch.get_num_threads()"),
    "torch's threads between operators": ("torch.set_num_interop_threads(3)", "torch.get_num_interop_threads()"),
    "torch's chance": ("torch.rand(3)", "torch.rand(2)"),
    "torch's seed": ("torch.manual_seed(5)", "torch.initial_seed(), torch.rand(2)"),
    "Python's chance": ("load('random').seed(5)", "load('random').random()"),
    "numpy's chance": ("np.random.seed(5)", "np.random.rand()"),
    "numpy's errors": ("np.seterr(all='raise')", "np.geterr()"),
    "numpy's print options": ("np.set_printoptions(precision=2)", "np.array([1 / 3])"),
    "a function that makes tensors": ("torch.ones = torch.zeros", "torch.ones(1)"),
    "a new name in torch": ("torch.utils.mine = 1", "hasattr(torch.utils, 'mine')"),
    "a function of torch": ("torch.add = torch.sub", "torch.add(torch.ones(1), torch.ones(1))"),
    "a method of tensors": ("torch.Tensor.sum = lambda self: 7", "torch.ones(3).sum()"),
    "a module of torch": ("torch.nn.Linear.forward = lambda self, x: x", "torch.nn.Linear(2, 2)(torch.ones(2)).requires_grad"),
    "torch's version": ("torch.__version__ = 'mine'", "torch.__version__"),
    "a function of numpy": ("np.add = np.subtract", "np.add(1, 1)"),
    "a constant of numpy": ("np.pi = 3", "np.pi"),
    "a builtin": ("torch.builtins.abs = lambda x: 7", "abs(-1)"),
    "a new builtin": ("torch.builtins.mine = 1", "hasattr(torch.builtins, 'mine')"),
    "the recorder": ("load('server.worker.program_run').DEFAULT_LIMITS['steps'] = 1", "load('server.worker.program_run').DEFAULT_LIMITS"),
    "a small number": ("torch._ops.ctypes.c_uint32.from_address(id(77) + 24).value = 78", "sum([70, 7])"),
    "libc's memory": ("c = torch._ops.ctypes\nc.c_void_p.in_dll(c.CDLL(None), 'environ').value = None", "bool(torch._ops.ctypes.c_void_p.in_dll(torch._ops.ctypes.CDLL(None), 'environ'))"),
    "loaded modules": ("torch.sys.modules['mine'] = torch", "'mine' in torch.sys.modules, len(torch.sys.modules)"),
    "a late import": ("load('torch._dynamo')", "'torch._dynamo' in torch.sys.modules, hasattr(torch, '_dynamo')"),
    "finders of modules": ("getattr(sys, 'meta_' 'path').clear()", "len(getattr(sys, 'meta_' 'path'))"),
    "the path": ("getattr(sys, 'pa' 'th').append('/mine')", "'/mine' in getattr(sys, 'pa' 'th')"),
    "arguments": ("sys.argv.append('x')", "sys.argv"),
    "the recursion limit": ("sys.setrecursionlimit(5000)", "sys.getrecursionlimit()"),
    "the switch interval": ("sys.setswitchinterval(1)", "sys.getswitchinterval()"),
    "digits of a number": ("sys.set_int_max_str_digits(0)", "sys.get_int_max_str_digits()"),
    "an exception's hook": ("sys.excepthook = print", "sys.excepthook is sys.__excepthook__"),
    "the standard output": ("sys.stdout.mine = 1", "hasattr(sys.stdout, 'mine')"),
    "the collector": ("load('gc').disable()", "load('gc').isenabled()"),
    "the collector's threshold": ("load('gc').set_threshold(5, 5, 5)", "load('gc').get_threshold()"),
    "the collector's callbacks": ("load('gc').callbacks.append(lambda *a: None)", "len(load('gc').callbacks)"),
    "warnings' filters": ("load('warnings').simplefilter('error')", "load('warnings').filters"),
    "warnings said once": ("load('warnings').simplefilter('default')\nload('warnings').warn('x')", "globals().get('__warningregistry__')"),
    "warnings that torch says once": ("torch.eye(2).to_sparse_csr()", "warned(lambda: torch.eye(2).to_sparse_csr())"),
    "the environment": ("torch.os.environ['MINE'] = '1'", "dict(torch.os.environ)"),
    "lines that are kept": ("load('linecache').cache['mine'] = (1, None, [], '')", "'mine' in load('linecache').cache, len(load('linecache').cache['<program>'])"),
    "decimal's context": ("load('decimal').getcontext().prec = 3", "load('decimal').Decimal(1) / 3"),
    "logging's level": ("load('logging').getLogger().setLevel(10)", "load('logging').getLogger().level"),
    "logging's handlers": ("load('logging').basicConfig()", "len(load('logging').getLogger().handlers)"),
    "what is done at the end": ("load('atexit').register(print)", "load('atexit')._ncallbacks()"),
    "a signal's handler": ("load('signal').signal(12, load('signal').SIG_IGN)", "load('signal').getsignal(12)"),
    "a blocked signal": ("load('signal').pthread_sigmask(0, [12])", "load('signal').pthread_sigmask(0, [])"),
    "open descriptors": ("torch.os.dup(0)", "[fd for fd in range(20) if opened(fd)]"),
    "a closed descriptor": ("torch.os.close(0)", "opened(0)"),
    "threads": ("torch.threading.Thread(target=load('time').sleep, args=(1,), daemon=True).start()", "torch.threading.active_count()"),
    "an operator of its own": ("torch.library.custom_op('mine::f', lambda x: x.clone(), mutates_args=(), schema='(Tensor x) -> Tensor')", "hasattr(torch.ops.mine, 'f')"),
    "another kernel": ("kept = torch.library.Library('aten', 'IMPL')\nkept.impl('neg', lambda x: x.clone(), 'CPU')", "torch.neg(torch.ones(1))"),
    "a Function of autograd": ("torch.autograd.Function.mine = 1", "hasattr(torch.autograd.Function, 'mine')"),
    "hooks of all modules": ("torch.nn.modules.module.register_module_forward_hook(lambda *a: torch.zeros(1))", "torch.nn.ReLU()(torch.ones(2))"),
    "hooks of all optimizers": ("load('torch.optim.optimizer').register_optimizer_step_pre_hook(print)", "len(load('torch.optim.optimizer')._global_optimizer_pre_hooks)"),
    "numbers of hooks": ("torch.ones(1, requires_grad=True).register_hook(print)", "torch.utils.hooks.RemovableHandle.next_id"),
    "hooks of saved tensors": ("kept = torch.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x * 2)\nkept.__enter__()", "saved()"),
    "a function mode": ("class M(torch.overrides.TorchFunctionMode):\n    def __torch_function__(self, f, types, args=(), kwargs=None): return 7\nkept = M()\nkept.__enter__()", "torch.add(torch.ones(1), 1)"),
    "validation of distributions": ("torch.distributions.Distribution.set_default_validate_args(False)", "torch.distributions.Distribution._validate_args"),
    "the fast path of attention": ("torch.backends.mha.set_fastpath_enabled(False)", "torch.backends.mha.get_fastpath_enabled()"),
    "oneDNN": ("torch._C._set_mkldnn_enabled(False)", "torch._C._get_mkldnn_enabled()"),
    "types that may be loaded": ("torch.serialization.add_safe_globals([dict])", "torch.serialization.get_safe_globals()"),
    "what is copied how": ("load('copyreg').pickle(type(None), print)", "type(None) in load('copyreg').dispatch_table"),
    "abstract classes": ("load('collections.abc').Hashable.register(list)", "isinstance([], load('collections.abc').Hashable)"),
    "nodes of pytrees": ("load('torch.utils._pytree').register_pytree_node(bytes, lambda x: ([], x), lambda x, y: y)", "load('torch.utils._pytree').tree_leaves(b'x')"),
    "memory": ("kept = torch.ones(10**7)", "'kept' in globals()"),
    "the main module": ("sys.mine = torch.sys.modules['__main__']", "hasattr(sys, 'mine'), torch.sys.modules['__main__'].__dict__ is globals()"),
}  # fmt: skip

START = """
import sys
import numpy as np
import torch
load = torch.importlib.import_module
def opened(fd):
    try:
        load('fcntl').fcntl(fd, 1)
        return True
    except OSError:
        return False
def warned(act):
    warnings = load('warnings')
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        act()
    return len(found)
def saved():
    x = torch.ones(1, requires_grad=True)
    y = x * x
    return y.grad_fn._saved_self
"""


class World:
    """A pool, and the traces of programs in it."""

    def __init__(self, **settings: Any) -> None:
        given = Settings({}, **(PATIENT | settings))
        self.limits, self.pool, self.loop = (
            given.run_limits(),
            LocalPool(given, "tests.support.worker_without_files:prepare"),
            asyncio.new_event_loop(),
        )
        self.known: dict[str, dict[str, Any]] = {}
        self.loop.run_until_complete(self.pool.start())

    def close(self) -> None:
        self.loop.run_until_complete(self.pool.close())
        self.loop.close()

    def run(self, *sources: str) -> list[Trace]:
        """All at the same time."""

        async def run_all() -> list[Trace]:
            jobs = [Job(source=source, limits=self.limits) for source in sources]
            return [trace.decoded() for trace in await asyncio.gather(*map(self.pool.run_job, jobs))]

        return self.loop.run_until_complete(run_all())

    def first(self, source: str) -> dict[str, Any]:
        """What a program gave when it ran for the first time."""
        if source not in self.known:
            self.known[source] = without_cost(self.run(source)[0])
        return self.known[source]


def without_cost(trace: Trace) -> dict[str, Any]:
    """Everything but what it cost."""
    assert trace.outcome.status == "finished", trace.outcome
    return {**trace_document(trace), "cost": None}


def printed(trace: dict[str, Any]) -> str:
    return "".join(entry["text"] for step in trace["steps"] for entry in step["log"] if entry["kind"] == "out")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture(scope="module")
def unconfined() -> Iterator[World]:
    world = World(sandbox="off")
    yield world
    world.close()


@pytest.mark.parametrize("name", CHANGES)
def test_no_program_sees_state_left_by_another(world: World, name: str) -> None:
    change, shown = CHANGES[name]
    fresh = f"{START}print({shown})\n"
    before = world.first(fresh)
    changed = without_cost(world.run(f"{START}{change}\nprint({shown})\n")[0])
    assert printed(changed) != printed(before), "the change does not show"
    neighbour = world.run(f"{START}{change}\nload('time').sleep(0.1)\n", fresh)[1]
    assert without_cost(neighbour) == before
    for _ in range(AGAIN + 1):
        assert without_cost(world.run(fresh)[0]) == before


COUNTED = """
import numpy as np, random, torch
x = torch.ones(2, requires_grad=True)
y = (x * 2).sum()
print(y.grad_fn._sequence_nr(), x.register_hook(lambda grad: None).id)
y.backward()
print((x + 1).grad_fn._sequence_nr(), torch.nn.Linear(1, 1).register_forward_hook(print).id)
print(torch.rand(1), random.random(), np.random.rand(), torch.initial_seed())
print(torch.seed() == torch.initial_seed(), torch.Generator().seed() > 0)
"""
SEEDED = "import random, numpy, torch\nfor one in (random.seed, numpy.random.seed, torch.manual_seed): one(0)\n"


def test_counters_begin_where_plain_pythons_do(world: World) -> None:
    """Whatever the workers ran before to be quick."""
    plain = subprocess.run([sys.executable, "-c", SEEDED + COUNTED], capture_output=True, text=True, check=True)
    for _ in range(AGAIN):
        assert printed(without_cost(world.run(COUNTED)[0])) == plain.stdout


SIDES = [
    f"""
import random, sys, time, warnings
import numpy as np
import torch
torch.set_default_dtype(torch.float{32 << side})
torch.manual_seed({side})
random.seed({side})
np.random.seed({side})
torch.Tensor.side = {side}
torch.os.environ['SIDE'] = '{side}'
sys.setrecursionlimit({3000 + side})
warnings.simplefilter('ignore' if {side} else 'always')
for k in range(4):
    time.sleep(0.1)
    print(torch.rand(1), torch.ones(1).dtype, random.random(), np.random.rand(), torch.Tensor.side)
    print(dict(torch.os.environ), sys.getrecursionlimit(), len(warnings.filters))
"""
    for side in (0, 1)
]


def test_two_at_a_time_do_not_see_each_other(world: World) -> None:
    """Each as it was alone, though both change the same things while the other one runs."""
    alone = [world.first(side) for side in SIDES]
    assert printed(alone[0]) != printed(alone[1])
    for order in (SIDES, SIDES[::-1], SIDES * 2):
        assert [without_cost(trace) for trace in world.run(*order)] == [world.first(side) for side in order]


def test_the_same_program_twice_at_a_time(world: World) -> None:
    source = f"{START}print(torch.rand(3), np.random.rand(3), hash('x'), len(torch.sys.modules))\n"
    alone = world.first(source)
    assert [without_cost(trace) for trace in world.run(source, source)] == [alone, alone]


SLEEPS = "import time\ntime.sleep(3)\nx = 1\n"
WAYS = {
    "signal": "os.kill(pid, 0)",
    "limits": "resource.prlimit(pid, 7)",
    "processors": "os.sched_getaffinity(pid)",
    "group": "os.getpgid(pid)",
    "session": "os.getsid(pid)",
    "descriptor": "os.pidfd_open(pid)",
    "priority": "os.getpriority(os.PRIO_PROCESS, pid)",
    "clock": "time.clock_gettime((~pid << 3) | 2)",
    "files": "os.stat('/proc/%d' % pid)",
}
SEEKS = f"""
import torch
text = '''
import os, resource, time
time.sleep(0.3)
near = [pid for pid in range(max(os.getppid() - 5, 2), os.getpid() + 60) if pid != os.getpid()][-300:]
found = []
for name, way in {WAYS!r}.items():
    count = 0
    for pid in near:
        try:
            exec(way)
            count += 1
        except OSError:
            pass
    if count > 1:
        found.append(name)
'''
names = dict()
vars(torch.builtins)['exec'](text, names)
print(*names['found'])
"""
"""Looks for processes, in text so that it has no steps: the zygote is near, and its children after it."""


def test_a_program_finds_no_other_process(world: World, unconfined: World) -> None:
    """Neither its neighbour nor its parent; where nothing holds it, it finds both, in every way."""
    sleeping, seeking = world.run(SLEEPS, SEEKS)
    assert without_cost(sleeping) == world.first(SLEEPS)
    assert printed(without_cost(seeking)).split() == []
    outside = printed(without_cost(unconfined.run(SLEEPS, SEEKS)[1]))
    assert outside.split() == list(WAYS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_neighbours_are_different_users(world: World) -> None:
    source = "import time, torch\nprint(torch.os.getuid(), torch.os.getgid())\ntime.sleep(1.5)\n"
    ids = [printed(without_cost(trace)).split() for trace in world.run(source, source)]
    assert len({number for pair in ids for number in pair}) == 2
    assert all(int(number) >= 61_000 for pair in ids for number in pair)


GREEDY = {
    "memory": "x = []\nwhile True: x.append(bytearray(10**6))\n",
    "the pipe": "import torch\nwhile True: torch.os.write(4, bytes(60_000))\n",
    "processors": "import torch\nfor _ in range(8): torch.threading.Thread(target=sum, args=(range(10**7),)).start()\nsum(range(10**7))\n",
    "a crash": "import torch\ntorch.importlib.import_module('signal').raise_signal(11)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", GREEDY)
def test_a_greedy_neighbour_spoils_nothing(world: World, name: str) -> None:
    honest = f"{START}for k in range(20): x = torch.rand(50, 50) @ torch.rand(50, 50)\nprint(x.sum())\n"
    alone = world.first(honest)
    assert without_cost(world.run(GREEDY[name], honest)[1]) == alone
