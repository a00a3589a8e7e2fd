"""Programs that use torch.compile as tutorials do, and a torch.compile that needs no compiler to be held against."""

import contextlib
import functools
from collections.abc import Iterator

import torch

COMPILED = {
    "a function": """
        def foo(x, y):
            a = torch.sin(x)
            b = torch.cos(y)
            return a + b
        opt_foo = torch.compile(foo)
        print(opt_foo(torch.randn(3, 3), torch.randn(3, 3)), opt_foo.__name__)
    """,
    "options of the compiler, and where a step begins": """
        import torch._inductor.config as config
        config.max_autotune = True
        torch._inductor.config.triton.cudagraphs = False
        f = torch.compile(torch.sin, mode="max-autotune")
        torch.compiler.cudagraph_mark_step_begin()
        print(f(torch.ones(2)), config.max_autotune)
    """,
    "a decorator": """
        t1, t2 = torch.randn(4, 4), torch.randn(4, 4)
        @torch.compile
        def opt_foo2(x, y):
            a = torch.sin(x)
            b = torch.cos(y)
            return a + b
        print(opt_foo2(t1, t2), opt_foo2)
    """,
    "a decorator with options": """
        @torch.compile(mode="reduce-overhead", fullgraph=True, dynamic=False)
        def f(x):
            '''Twice.'''
            return x * 2
        print(f(torch.ones(2)), f.__doc__, f.__wrapped__ is not None)
    """,
    "a module": """
        class MyModule(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = torch.nn.Linear(3, 3)
            def forward(self, x):
                return torch.nn.functional.relu(self.lin(x))
        mod1 = MyModule()
        mod1.compile()
        print(mod1(torch.randn(3, 3)))
        mod2 = MyModule()
        mod2 = torch.compile(mod2)
        print(mod2(torch.randn(3, 3)), mod2, list(mod2.state_dict()), mod2._orig_mod.lin.in_features)
    """,
    "data dependent branches": """
        def bar(a, b):
            x = a / (torch.abs(a) + 1)
            if b.sum() < 0:
                b = b * -1
            return x * b
        opt_bar = torch.compile(bar)
        inp1, inp2 = torch.ones(10), torch.ones(10)
        print(opt_bar(inp1, inp2))
        print(opt_bar(inp1, -inp2))
        torch._dynamo.reset()
    """,
    "a training loop": """
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        opt = torch.optim.Adam(model.parameters(), lr=0.01)
        compiled = torch.compile(model, backend="inductor")
        x, y = torch.randn(16, 4), torch.randn(16, 1)
        for epoch in range(5):
            opt.zero_grad(True)
            loss = torch.nn.functional.mse_loss(compiled(x), y)
            loss.backward()
            opt.step()
            print(epoch, round(loss.item(), 3))
        compiled.eval()
        with torch.no_grad():
            print(compiled(x[:2]).shape, model.training, compiled.training)
    """,
    "a train step": """
        model = torch.nn.Linear(2, 2)
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        def train(mod, data):
            opt.zero_grad(True)
            pred = mod(data[0])
            loss = torch.nn.CrossEntropyLoss()(pred, data[1])
            loss.backward()
            opt.step()
            return loss.detach()
        train_opt = torch.compile(train, mode="default")
        print([round(float(train_opt(model, (torch.ones(3, 2), torch.tensor([0, 1, 0])))), 4) for _ in range(3)])
    """,
    "timed": """
        import time
        def timed(fn):
            start = time.perf_counter()
            result = fn()
            return result, time.perf_counter() - start
        model = torch.nn.Linear(3, 3)
        model_opt = torch.compile(model, mode="reduce-overhead")
        inp = torch.randn(4, 3)
        with torch.no_grad():
            print("eager:", timed(lambda: model(inp))[1] > 0)
            print("compile:", torch.allclose(timed(lambda: model_opt(inp))[0], model(inp)))
    """,
    "a method and an attention": """
        import torch.nn.functional as F
        class Attention(torch.nn.Module):
            def __init__(self, d):
                super().__init__()
                self.qkv = torch.nn.Linear(d, 3 * d)
            @torch.compile
            def scores(self, q, k):
                return (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
            def forward(self, x):
                q, k, v = self.qkv(x).chunk(3, -1)
                return self.scores(q, k) @ v
        net = Attention(4)
        out = net(torch.ones(1, 3, 4))
        out.sum().backward()
        print(out, net.qkv.weight.grad.norm())
        sdpa = torch.compile(F.scaled_dot_product_attention)
        print(sdpa(*[torch.ones(1, 1, 2, 4) for _ in range(3)]))
    """,
    "if the version has it": """
        net = torch.nn.Linear(2, 1)
        if hasattr(torch, "compile") and int(torch.__version__.split(".")[0]) >= 2:
            net = torch.compile(net)
        print(net(torch.ones(1, 2)), torch.compiler.is_compiling())
        for bad in (dict(mode="fast"), dict(mode="default", options={})):
            try:
                torch.compile(net, **bad)
            except Exception as error:
                print(type(error).__name__)
    """,
}
"""As tutorials do it."""


@contextlib.contextmanager
def compiled_eagerly() -> Iterator[None]:
    """torch.compile with the backend that needs no compiler."""
    original = torch.compile

    @functools.wraps(original)
    def compile_eagerly(model: object = None, **options: object) -> object:
        if options.get("backend") in (None, "inductor") and options.get("mode") in (None, "default", "reduce-overhead"):
            options = {k: v for k, v in options.items() if k != "mode" or "options" in options} | {"backend": "eager"}
        return original(model, **options)  # type: ignore[call-overload]

    torch.compile = compile_eagerly  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.compile = original
