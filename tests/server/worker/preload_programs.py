"""Programs that would notice most whether a child is warm: they print the same there as in a fresh process."""

from gradbox.language.policy import ALLOWED_MODULES

PROGRAMS = {
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
        import warnings
        for _ in range(3):
            warnings.warn("once, and once more after what the first optimizer imports")
            optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
            torch.optim.lr_scheduler.StepLR(optimizer, 1).step()
            optimizer.step()
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

CHILDREN = (
    ("imports of every form",),
    ("warned between transforms", "counters", "modes", "tracebacks", "scripts", "warned once"),
    ("every module",),
    ("source",),
    ("numbers",),
)
"""Programs by the child that runs them, one after the other: torch imports its compiler late, and then once a child."""
