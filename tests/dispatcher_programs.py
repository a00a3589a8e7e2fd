"""Programs that ask torch's dispatcher, a tracer or a mode what they see, and would notice if somebody listened."""

PROGRAMS: dict[str, str] = {
    # torch.jit
    "script_function": """
        @torch.jit.script
        def f(x, k: int):
            y = x
            for i in range(k):
                if bool(y.sum() > 10):
                    y = y / 2
                else:
                    y = y * 3 + i
            return y
        x = torch.ones(2, requires_grad=True)
        for _ in range(4):
            y = f(x, 4)
            y.sum().backward()
        print(f.code, y, x.grad)
    """,
    "script_module": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 3)
                self.scale = torch.nn.Parameter(torch.ones(3))
            def forward(self, x):
                if x.size(0) > 2:
                    x = x[:2]
                return torch.relu(self.layer(x)) * self.scale
        net = Net()
        scripted = torch.jit.script(net)
        x = torch.arange(6.0).view(3, 2)
        for _ in range(3):
            out = scripted(x)
            out.sum().backward()
        print(scripted.code, out, net.scale.grad, torch.equal(out, net(x)))
        print(list(scripted.state_dict()), scripted.original_name)
    """,
    "script_then_trace": """
        @torch.jit.script
        def double(x):
            return x * 2
        print(double(torch.ones(2)))
        traced = torch.jit.trace(lambda x: x * 2 + 1, torch.ones(3))
        print(traced.graph, traced(torch.arange(3.0)))
    """,
    "trace_function": """
        def f(x, y):
            a = x.view(-1)
            b = a.view(a.size(0) // 2, 2) + y[0]
            return b.sum(0), b.reshape(b.shape[1], -1)
        traced = torch.jit.trace(f, (torch.ones(4, 2), torch.ones(2, 2)))
        print(traced.graph)
        print(traced.code)
        print(traced(torch.arange(12.0).view(6, 2), torch.ones(2, 2)))
        x = torch.ones(4, 2, requires_grad=True)
        for _ in range(3):
            traced(x, x)[0].sum().backward()
        print(x.grad)
    """,
    "trace_module": """
        net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
        net.eval()
        x = torch.ones(3, 2)
        traced = torch.jit.trace(net, x)
        print(traced.graph, traced.code, traced(x), torch.equal(traced(x), net(x)))
        class Both(torch.nn.Module):
            def forward(self, x):
                return x + 1
            def other(self, x):
                return x * x.shape[0]
        both = torch.jit.trace_module(Both(), {"forward": torch.ones(2), "other": torch.ones(2)})
        print(both.other(torch.ones(3)), both.code)
    """,
    "trace_warns": """
        import warnings
        def f(x):
            if x.sum() > 0:
                return x * len(x)
            return x
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            traced = torch.jit.trace(f, torch.ones(2))
        print([w.category.__name__ for w in caught], traced(torch.tensor([-1.0, -2.0])), traced.graph)
    """,
    "trace_of_random": """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            traced = torch.jit.trace(lambda x: x + torch.rand(2), torch.ones(2))
        print(len(caught), traced(torch.ones(2)), torch.rand(1))
    """,
    "trace_fails": """
        try:
            torch.jit.trace(lambda x: {"a": 1}, torch.ones(2))
        except Exception as error:
            print(type(error).__name__, str(error)[:150])
        try:
            torch.jit.trace(lambda x: x @ torch.ones(3), torch.ones(2))
        except Exception as error:
            print(type(error).__name__, str(error)[:150])
        y = torch.ones(2) * 3
        print(y, torch.jit.is_tracing())
    """,
    "trace_with_steps_inside": """
        def helper(x):
            y = x * 2
            z = y.detach()
            print("traced", torch.jit.is_tracing())
            return y + z
        def f(x):
            out = helper(x)
            for k in range(2):
                out = out + k
            out[0] = 7
            return out
        x = torch.ones(2, requires_grad=True)
        traced = torch.jit.trace(f, x, check_trace=False)
        print(traced.graph)
        traced(x).sum().backward()
        print(x.grad, f(x))
    """,
    "script_calls_python": """
        @torch.jit.ignore
        def seen(x):
            print("python", x.shape)
            return x + 1
        class Net(torch.nn.Module):
            def forward(self, x):
                return self.plain(x) * 2
            @torch.jit.export
            def twice(self, x):
                return x * 2
            @torch.jit.unused
            def plain(self, x):
                return x + 1
        print(torch.jit.script(Net()).twice(torch.ones(2)))
        try:
            print(torch.jit.script(Net())(torch.ones(2)))
        except Exception as error:
            print(type(error).__name__)
    """,
    "script_classes_and_lists": """
        from typing import Dict, List, Optional, Tuple
        @torch.jit.script
        def f(xs: List[torch.Tensor], d: Dict[str, int], o: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, int]:
            out = torch.zeros_like(xs[0])
            for x in xs:
                out += x
            if o is not None:
                out = out * o
            return out, d["a"]
        print(f([torch.ones(2), torch.ones(2)], {"a": 3}), f([torch.ones(2)], {"a": 1}, torch.full((2,), 5.0)))
        print(f.graph_for([torch.ones(2)], {"a": 1}) is not None)
    """,
    "script_freezes": """
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).eval()
        scripted = torch.jit.freeze(torch.jit.script(net))
        x = torch.ones(3, 2)
        print(scripted(x), len(list(scripted.parameters())))
        fast = torch.jit.optimize_for_inference(torch.jit.script(net))
        print(fast(x).shape, torch.allclose(fast(x), net(x)))
    """,
    "script_fork_and_wait": """
        @torch.jit.script
        def f(x):
            later = torch.jit.fork(torch.relu, x)
            return torch.jit.wait(later) + 1
        print(f(torch.tensor([-1.0, 2.0])), torch.jit.wait(torch.jit.fork(lambda x: x + 1, torch.ones(2))))
    """,
    "script_raises": """
        @torch.jit.script
        def f(x):
            return x.view(7)
        try:
            f(torch.ones(2))
        except Exception as error:
            print(type(error).__name__, str(error)[-80:])
        try:
            torch.jit.script(lambda x: x.nothing())
        except Exception as error:
            print(type(error).__name__)
    """,
    "script_in_place_and_views": """
        @torch.jit.script
        def f(x):
            v = x[0]
            v.add_(1)
            x.mul_(2)
            return v
        x = torch.ones(2, 2)
        for _ in range(3):
            v = f(x)
        print(x, v, x._version, v._base is x, v._is_view())
    """,
    "script_many_times_with_grad": """
        @torch.jit.script
        def gelu(x):
            return x * 0.5 * (1.0 + torch.erf(x / 1.41421))
        x = torch.linspace(-1, 1, 5, requires_grad=True)
        for k in range(5):
            x.grad = None
            y = gelu(x).sum()
            y.backward()
            print(k, y.item(), x.grad[0].item())
    """,
    "annotate_and_isinstance": """
        @torch.jit.script
        def f(x):
            # type: (Tensor) -> Tensor
            acc = torch.jit.annotate(List[int], [])
            acc.append(1)
            return x + acc[0]
        print(f(torch.ones(2)), isinstance(f, torch.jit.ScriptFunction))
        with torch.jit.optimized_execution(False):
            print(f(torch.zeros(1)))
    """,
    # torch.fx, make_fx, export
    "fx_symbolic_trace": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 5)
                self.param = torch.nn.Parameter(torch.rand(3, 4))
            def forward(self, x):
                return self.layer(x + self.param).clamp(min=0.0, max=1.0)
        traced = torch.fx.symbolic_trace(Net())
        print(traced.graph, traced.code)
        print(traced(torch.ones(3, 4)).sum())
        for node in traced.graph.nodes:
            print(node.op, node.name, node.target, node.args)
    """,
    "fx_rewrites": """
        from torch import fx
        def f(x, y):
            return torch.add(x, y).relu() + torch.neg(x)
        traced = fx.symbolic_trace(f)
        for node in traced.graph.nodes:
            if node.op == "call_function" and node.target is torch.add:
                node.target = torch.mul
        traced.graph.lint()
        traced.recompile()
        print(traced.code, traced(torch.ones(2), torch.full((2,), 3.0)))
        class Shapes(fx.Interpreter):
            def run_node(self, n):
                result = super().run_node(n)
                print(n.name, tuple(getattr(result, "shape", ())))
                return result
        Shapes(traced).run(torch.ones(2), torch.ones(2))
        from torch.fx.passes.shape_prop import ShapeProp
        ShapeProp(traced).propagate(torch.ones(2), torch.ones(2))
        print([n.meta["tensor_meta"].shape for n in traced.graph.nodes if "tensor_meta" in n.meta])
    """,
    "fx_control_flow_fails": """
        def f(x):
            if x.sum() > 0:
                return x
            return -x
        try:
            torch.fx.symbolic_trace(f)
        except Exception as error:
            print(type(error).__name__, error)
        g = torch.fx.symbolic_trace(lambda x, flag: x * 2 if flag else x, concrete_args={"flag": True})
        print(g.code)
    """,
    "fx_tracer_with_leaf": """
        class Own(torch.fx.Tracer):
            def is_leaf_module(self, m, name):
                return isinstance(m, torch.nn.ReLU) or super().is_leaf_module(m, name)
        @torch.fx.wrap
        def helper(x):
            return x + 1
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.act = torch.nn.ReLU()
            def forward(self, x):
                for k in range(2):
                    x = self.act(helper(x)) * k
                return x
        net = Net()
        graph = Own().trace(net)
        print(graph, torch.fx.GraphModule(net, graph)(torch.ones(2)))
    """,
    "fx_subgraph_and_proxy": """
        from torch.fx import subgraph_rewriter
        def pattern(x, y):
            return torch.cat([x, y]).sum()
        def replacement(x, y):
            return torch.stack([x, y])
        class M(torch.nn.Module):
            def forward(self, a, b):
                return torch.cat([a, b]).sum() + a.mean()
        traced = torch.fx.symbolic_trace(M())
        print(len(subgraph_rewriter.replace_pattern(traced, pattern, replacement)), traced.code)
        print(traced(torch.ones(2), torch.ones(2)))
    """,
    "make_fx": """
        from torch.fx.experimental.proxy_tensor import make_fx
        def f(x, y):
            a = x * 2 + y
            b = a.view(-1).sum()
            return a.sin() * b
        print(make_fx(f)(torch.ones(2, 2), torch.ones(2, 2)).code)
        print(make_fx(f, tracing_mode="fake")(torch.ones(2, 2), torch.ones(2, 2)).graph)
        print(make_fx(f, tracing_mode="symbolic")(torch.ones(2, 2), torch.ones(2, 2)).code)
        print(torch.ones(2) + 1)
    """,
    "make_fx_of_grad": """
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.func import grad, vmap
        print(make_fx(grad(lambda x: (x.sin() ** 2).sum()))(torch.ones(3)).code)
        print(make_fx(vmap(lambda x: x.sum() * 2))(torch.ones(3, 2)).code)
        net = torch.nn.Linear(2, 1)
        def loss(params, x):
            return torch.func.functional_call(net, params, (x,)).sum()
        g = make_fx(grad(loss))(dict(net.named_parameters()), torch.ones(1, 2))
        print(g.code)
    """,
    "export": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 3)
            def forward(self, x, y):
                z = self.layer(x) * 2
                return torch.relu(z) + y.sum()
        net = Net()
        program = torch.export.export(net, (torch.ones(4, 2), torch.ones(2)), strict=False)
        print(program.graph)
        print(program.graph_signature.user_inputs, program.module()(torch.ones(4, 2), torch.ones(2)).shape)
        dim = torch.export.Dim("batch")
        dynamic = torch.export.export(net, (torch.ones(4, 2), torch.ones(2)), dynamic_shapes={"x": {0: dim}, "y": None}, strict=False)
        print(dynamic.module()(torch.ones(7, 2), torch.ones(2)).shape)
        print(len(program.run_decompositions().graph.nodes) > 0)
    """,
    "export_fails": """
        class Net(torch.nn.Module):
            def forward(self, x):
                if x.sum() > 0:
                    return x + 1
                return x
        try:
            torch.export.export(Net(), (torch.ones(2),), strict=False)
        except Exception as error:
            print(type(error).__name__)
        print(torch.ones(2) * 2)
    """,
    # torch.func
    "func_grad": """
        from torch.func import grad, grad_and_value, vjp, jvp, linearize
        f = lambda x: (x ** 3).sum()
        x = torch.arange(3.0)
        print(grad(f)(x), grad(lambda x: grad(f)(x).sum())(x), grad_and_value(f)(x))
        out, pull = vjp(lambda a, b: a * b, x, x + 1)
        print(out, pull(torch.ones(3)), jvp(torch.sin, (x,), (torch.ones(3),)))
        out, push = linearize(torch.exp, x)
        print(out, push(torch.ones(3)))
        print(grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 2))
        print(grad(lambda x: ((x * 2).sum(), x), has_aux=True)(x))
    """,
    "func_vmap": """
        from torch.func import vmap
        a, b = torch.arange(6.0).view(2, 3), torch.ones(3, 2)
        print(vmap(torch.dot)(a, b.T), vmap(torch.mul, in_dims=(0, 1))(a, b), vmap(lambda x, k: x * k, in_dims=(0, None))(a, 3))
        print(vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(a), vmap(vmap(lambda x: x + 1))(a))
        print(vmap(lambda d: d["x"] * 2, in_dims=({"x": 1},))({"x": b}), vmap(torch.sum, chunk_size=1)(a))
        print(vmap(lambda x: x + torch.rand(1), randomness="same")(a), vmap(lambda x: x + torch.rand(1), randomness="different")(a))
        for bad in (lambda x: x.item(), lambda x: x if x.sum() > 0 else -x, lambda x: torch.rand(1) + x):
            try:
                vmap(bad)(a)
            except Exception as error:
                print(type(error).__name__, str(error)[:60])
        try:
            vmap(torch.add, in_dims=(0, 0))(a, torch.ones(5))
        except Exception as error:
            print(type(error).__name__, str(error)[:80])
    """,
    "func_jacobians": """
        from torch.func import jacrev, jacfwd, hessian, vmap
        f = lambda x: torch.stack([x.sum(), (x ** 2).sum(), x.prod()])
        x = torch.arange(1.0, 4.0)
        print(jacrev(f)(x), jacfwd(f)(x), hessian(lambda x: x.prod())(x))
        print(jacrev(jacfwd(lambda x: x.sin().sum()))(x), vmap(jacrev(f))(torch.ones(2, 3)))
        print(jacrev(lambda a, b: a * b, argnums=1)(x, x), torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), x))
        print(torch.autograd.functional.jacobian(f, x, vectorize=True), torch.autograd.functional.jvp(f, x, torch.ones(3)))
        print(torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), x, torch.ones(3)))
        print(torch.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode"))
    """,
    "func_functional_call": """
        from torch.func import functional_call, grad, vmap, stack_module_state
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        params = {k: v.detach() for k, v in net.named_parameters()}
        def loss(p, x, y):
            return ((functional_call(net, p, (x.unsqueeze(0),)) - y) ** 2).mean()
        x, y = torch.arange(8.0).view(4, 2), torch.ones(4)
        per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
        print({k: v.shape for k, v in per_sample.items()}, per_sample["2.bias"])
        nets = [torch.nn.Linear(2, 1) for _ in range(3)]
        stacked, buffers = stack_module_state(nets)
        out = vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)), in_dims=(0, 0, None))(stacked, buffers, x)
        print(out.shape, out.sum())
        new = {k: v + 1 for k, v in net.named_parameters()}
        functional_call(net, new, (x,)).sum().backward()
        print(net[0].weight.grad)
    """,
    "func_inside_functions": """
        from torch.func import grad, vmap
        def inner(x):
            y = x * 2
            z = y.detach() + x
            w = z.clone()
            w[0] = 3.0
            return (w * x).sum()
        def outer(x):
            g = grad(inner)(x)
            return g * x
        print(outer(torch.ones(3)), vmap(outer)(torch.ones(2, 3)), grad(lambda x: outer(x).sum())(torch.ones(3)))
    """,
    "func_functionalize": """
        from torch.func import functionalize
        from torch.fx.experimental.proxy_tensor import make_fx
        def f(x):
            y = x.clone()
            v = y.view(-1)
            v.add_(1)
            y[0] = 5
            return y
        print(functionalize(f)(torch.zeros(2, 2)))
        print(make_fx(functionalize(f))(torch.zeros(2, 2)).code)
        print(make_fx(functionalize(f, remove="mutations_and_views"))(torch.zeros(2, 2)).code)
    """,
    "func_batch_norm": """
        from torch.func import functional_call, vmap, replace_all_batch_norm_modules_
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        replace_all_batch_norm_modules_(net)
        print(vmap(net)(torch.arange(12.0).view(3, 2, 2)))
    """,
    "func_of_custom_function": """
        from torch.func import grad, vmap, jacrev
        class Cube(torch.autograd.Function):
            generate_vmap_rule = True
            @staticmethod
            def forward(x):
                return x ** 3
            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(inputs[0])
            @staticmethod
            def backward(ctx, g):
                x, = ctx.saved_tensors
                return 3 * x ** 2 * g
        x = torch.arange(3.0)
        print(grad(lambda x: Cube.apply(x).sum())(x), vmap(grad(Cube.apply))(x), jacrev(Cube.apply)(x), vmap(Cube.apply)(x))
    """,
    "func_of_in_place_fails": """
        from torch.func import grad, vmap
        captured = torch.zeros(3)
        def f(x):
            captured.add_(x)
            return x.sum()
        for t in (grad(f), vmap(f)):
            try:
                print(t(torch.ones(3)))
            except Exception as error:
                print(type(error).__name__, str(error)[:100])
        print(captured, captured._version)
    """,
    # modes and subclasses
    "dispatch_mode_logs": """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Log(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                print(func, [type(a).__name__ for a in args])
                return func(*args, **(kwargs or {}))
        x = torch.ones(2, 2, requires_grad=True)
        with Log():
            y = (x * 2).relu()
            v = (x * 3)[0]
            v.detach().add_(1)
            z = y.reshape(4).sum()
            z.backward()
            print(x.grad)
            n = torch.tensor([1, 2])
        print(y)
    """,
    "dispatch_mode_changes": """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Double(TorchDispatchMode):
            count = 0
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                Double.count += 1
                out = func(*args, **(kwargs or {}))
                return out * 2 if func is torch.ops.aten.sin.default else out
        with Double():
            a = torch.ones(2).sin()
            for k in range(3):
                a = a + k
            b = torch.nn.Linear(2, 2)(a)
        print(a, Double.count, b.requires_grad)
    """,
    "function_mode": """
        from torch.overrides import TorchFunctionMode
        class Log(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                print(getattr(func, "__name__", func))
                return func(*args, **(kwargs or {}))
        with Log():
            x = torch.ones(2, requires_grad=True)
            y = x * 2
            z = torch.nn.functional.relu(y)
            y.shape
            y.sum().backward()
            q = x.grad
        with torch.device("meta"):
            m = torch.ones(2, 2)
        print(m.device, z, torch.get_default_device())
    """,
    "torch_function_subclass": """
        class Named(torch.Tensor):
            seen = []
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                cls.seen.append(func.__name__)
                return super().__torch_function__(func, types, args, kwargs or {})
        x = torch.ones(2).as_subclass(Named)
        y = x * 2
        z = torch.cat([y, y])
        w = z.sum()
        print(Named.seen, type(w), w)
        for k in range(2):
            x = x + k
        print(Named.seen, x.shape)
    """,
    "torch_dispatch_subclass": """
        from torch.utils._pytree import tree_map
        class Wrapped(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)
            def __init__(self, inner):
                self.inner = inner
            def __repr__(self):
                return f"Wrapped({self.inner})"
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                print(func)
                unwrap = lambda t: t.inner if isinstance(t, Wrapped) else t
                wrap = lambda t: Wrapped(t) if isinstance(t, torch.Tensor) else t
                return tree_map(wrap, func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {})))
        x = Wrapped(torch.arange(4.0))
        y = x * 2 + x
        v = y.view(2, 2)
        s = v[0].sum()
        print(x, y, v, s)
        y.add_(1)
        leaf = Wrapped(torch.ones(2)).requires_grad_()
        (leaf * 3).sum().backward()
        print(leaf.grad)
    """,
    "torch_dispatch_made_from_data": """
        class Counting(torch.Tensor):
            calls = 0
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                cls.calls += 1
                return super().__torch_dispatch__(func, types, args, kwargs or {})
        x = torch.Tensor._make_subclass(Counting, torch.ones(3))
        y = x + 1
        z = y.clone()
        x.mul_(2)
        print(Counting.calls, x.shape, torch.is_tensor(y))
    """,
    "flop_counter": """
        from torch.utils.flop_counter import FlopCounterMode
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
        with FlopCounterMode(display=False) as counter:
            net(torch.ones(3, 4)).sum().backward()
        print(counter.get_total_flops(), counter.get_flop_counts()["Global"])
    """,
    "fake_tensors": """
        from torch._subclasses.fake_tensor import FakeTensorMode
        net = torch.nn.Linear(3, 2)
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            x = torch.ones(4, 3)
            y = net(x)
            w = (x * 2).view(-1)[:5]
            print(x, y.shape, w.stride(), type(y).__name__)
        fake = mode.from_tensor(torch.ones(2, 3))
        with mode:
            z = fake @ fake.T
        print(z, z.device, isinstance(z, torch.Tensor))
        try:
            fake + torch.ones(2, 3)
        except Exception as error:
            print(type(error).__name__)
        with mode:
            try:
                print(fake.sum().item())
            except Exception as error:
                print(type(error).__name__)
    """,
    "meta_tensors": """
        with torch.device("meta"):
            net = torch.nn.Linear(3, 2)
        out = net(torch.ones(4, 3, device="meta"))
        out.sum().backward()
        print(out, net.weight.grad, net.weight.grad.shape)
        net = net.to_empty(device="cpu")
        torch.nn.init.ones_(net.weight)
        torch.nn.init.zeros_(net.bias)
        net.zero_grad()
        print(net.weight, torch.empty(2, device="meta").is_meta)
    """,
    "saved_tensor_hooks": """
        from torch.autograd.graph import saved_tensors_hooks, save_on_cpu, disable_saved_tensors_hooks
        def pack(x):
            print("pack", tuple(x.shape))
            return x
        def unpack(x):
            print("unpack", tuple(x.shape))
            return x
        a = torch.ones(3, requires_grad=True)
        with saved_tensors_hooks(pack, unpack):
            y = (a * a).exp()
        y.sum().backward()
        print(a.grad)
        with save_on_cpu():
            z = (a * a).sum()
        z.backward()
        print(a.grad)
        try:
            with disable_saved_tensors_hooks("not here"):
                with saved_tensors_hooks(pack, unpack):
                    pass
        except RuntimeError as error:
            print(error)
    """,
    "checkpoints": """
        from torch.utils.checkpoint import checkpoint, checkpoint_sequential
        calls = []
        def block(x):
            calls.append(torch.is_grad_enabled())
            return (x * 2).sin()
        x = torch.ones(3, requires_grad=True)
        for reentrant in (False, True):
            y = checkpoint(block, x, use_reentrant=reentrant)
            y.sum().backward()
        print(calls, x.grad)
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(2, 1))
        out = checkpoint_sequential(net, 2, torch.ones(4, 2, requires_grad=True), use_reentrant=False)
        out.sum().backward()
        print(out, net[0].weight.grad)
    """,
    # profiler, autocast, custom operators
    "profiler": """
        from torch.profiler import ProfilerActivity, profile, record_function
        net = torch.nn.Linear(2, 2)
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
            with record_function("mine"):
                net(torch.ones(3, 2)).relu().sum().backward()
        names = {e.key: e.count for e in prof.key_averages()}
        print({k: names.get(k) for k in ("mine", "aten::linear", "aten::relu", "aten::sum", "aten::addmm", "aten::t")})
        with torch.autograd.profiler.profile() as prof:
            torch.ones(2) + 1
        print([e.key for e in prof.key_averages() if e.key == "aten::add"])
    """,
    "profiler_counts": """
        from torch.profiler import profile, ProfilerActivity
        x = torch.ones(4, 4, requires_grad=True)
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            y = x @ x
            z = y.t() + 1
            for k in range(3):
                z = z * k
            z.sum().backward()
        print(sorted((e.key, e.count) for e in prof.key_averages()))
    """,
    "autocast": """
        net = torch.nn.Linear(4, 4)
        x = torch.ones(2, 4)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a = net(x)
            b = net(x)
            c = a + b
            d = torch.softmax(a, 0)
            print(a.dtype, c.dtype, d.dtype, torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
            with torch.autocast("cpu", enabled=False):
                e = net(x)
        c.float().sum().backward()
        print(e.dtype, net.weight.grad, a.grad_fn)
        @torch.autocast("cpu", dtype=torch.bfloat16)
        def f(x):
            return x @ x.T
        print(f(x).dtype, torch.is_autocast_cache_enabled())
    """,
    "autocast_cache": """
        w = torch.ones(3, 3, requires_grad=True)
        x = torch.ones(2, 3)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a = x @ w
            with torch.no_grad():
                w.mul_(2)
            b = x @ w
            torch.clear_autocast_cache()
            c = x @ w
        print(a, b, c)
        (a + b + c).float().sum().backward()
        print(w.grad)
        scaler = torch.amp.GradScaler("cpu", enabled=True)
        opt = torch.optim.SGD([w], 0.1)
        for _ in range(2):
            opt.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
                loss = (x @ w).sum()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
        print(w, scaler.get_scale())
    """,
    "custom_ops": """
        @torch.library.custom_op("mine::scaled_sin", mutates_args=())
        def scaled_sin(x: torch.Tensor, k: float) -> torch.Tensor:
            return torch.from_numpy(np.sin(x.detach().numpy()) * np.float32(k))
        @scaled_sin.register_fake
        def _(x, k):
            return torch.empty_like(x)
        def setup(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.k = inputs[1]
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * x.cos() * ctx.k, None
        scaled_sin.register_autograd(backward, setup_context=setup)
        x = torch.arange(3.0, requires_grad=True)
        y = scaled_sin(x, 2.0)
        y.sum().backward()
        print(y, x.grad, torch.ops.mine.scaled_sin(x, 3.0))
        @torch.library.custom_op("mine::add_one_", mutates_args={"x"})
        def add_one_(x: torch.Tensor) -> None:
            x.add_(1)
        z = torch.zeros(2)
        add_one_(z)
        print(z, z._version)
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode():
            print(torch.ops.mine.scaled_sin(torch.ones(2), 1.0).shape)
        print(torch.library.opcheck(scaled_sin, (torch.ones(2), 1.0), test_utils=("test_schema", "test_faketensor")))
    """,
    "library_impl": """
        lib = torch.library.Library("own", "DEF")
        lib.define("twice(Tensor x) -> Tensor")
        def twice(x):
            return x * 2
        lib.impl("twice", twice, "CompositeImplicitAutograd")
        x = torch.ones(2, requires_grad=True)
        torch.ops.own.twice(x).sum().backward()
        print(torch.ops.own.twice(x), x.grad, torch.ops.own.twice.default._schema)
        lib.define("bump(Tensor(a!) x, int k) -> ()")
        lib.impl("bump", lambda x, k: x.add_(k) and None, "CPU")
        try:
            y = torch.zeros(2)
            torch.ops.own.bump(y, 3)
            print(y, y._version)
        except Exception as error:
            print(type(error).__name__)
    """,
    "overridden_operator": """
        import warnings
        lib = torch.library.Library("aten", "IMPL")
        def neg(x):
            print("neg of mine")
            return x * -1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lib.impl("neg", neg, "CPU")
        print(-torch.ones(2))
        del lib
    """,
    "operators_named": """
        print(torch.ops.aten.add.Tensor(torch.ones(2), torch.ones(2), alpha=3), torch.ops.aten.sum.dim_IntList(torch.ones(2, 2), [0]))
        print(torch.ops.aten.relu(torch.ones(2)), torch.ops.aten.add.Tensor._schema, torch.ops.aten.add.overloads()[:3])
        print(torch.ops.aten.mul.Tensor.has_kernel_for_dispatch_key(torch._C.DispatchKey.CPU))
        print(torch._C._dispatch_keys(torch.ones(2)), torch._C._dispatch_tls_is_dispatch_key_included("TESTING_ONLY_GenericMode") in (True, False))
    """,
    # forward mode
    "forward_mode": """
        import torch.autograd.forward_ad as fwAD
        x, t = torch.arange(3.0), torch.ones(3)
        with fwAD.dual_level():
            d = fwAD.make_dual(x, t)
            y = d.sin() * 2
            z = y.view(3, 1)
            z[0] = 5.0
            print(fwAD.unpack_dual(y), fwAD.unpack_dual(z).tangent)
            net = torch.nn.Linear(3, 2)
            for name, p in list(net.named_parameters()):
                delattr(net, name)
                setattr(net, name, fwAD.make_dual(p, torch.ones_like(p)))
            out = net(x)
            print(fwAD.unpack_dual(out).tangent)
        print(fwAD.unpack_dual(y) if False else y)
        class Fn(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.k = 2
                return x * 2
            @staticmethod
            def jvp(ctx, g):
                return g * ctx.k
        with fwAD.dual_level():
            print(fwAD.unpack_dual(Fn.apply(fwAD.make_dual(x, t))))
    """,
    "forward_over_reverse": """
        from torch.func import jvp, grad, vjp
        f = lambda x: (x ** 3).sum()
        x = torch.arange(1.0, 4.0)
        print(jvp(grad(f), (x,), (torch.ones(3),)))
        _, pull = vjp(grad(f), x)
        print(pull(torch.ones(3)))
        print(torch.func.vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(torch.eye(3)))
    """,
    # anomaly, graph hooks and the rest
    "anomaly": """
        import warnings
        x = torch.zeros(2, requires_grad=True)
        with torch.autograd.detect_anomaly(check_nan=True):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    (torch.sqrt(x) * 0).sum().backward()
            except RuntimeError as error:
                print(error)
        print(torch.is_anomaly_enabled())
    """,
    "multi_grad_hooks": """
        from torch.autograd.graph import register_multi_grad_hook, get_gradient_edge, increment_version
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        register_multi_grad_hook([a, b], lambda grads: print("all", [g.tolist() for g in grads]))
        y = a * b * 2
        edge = get_gradient_edge(y)
        y.sum().backward(retain_graph=True)
        print(edge.output_nr)
        n = torch.zeros(2)
        increment_version(n)
        print(n._version)
    """,
    "allow_mutation": """
        from torch.autograd.graph import allow_mutation_on_saved_tensors
        with allow_mutation_on_saved_tensors():
            a = torch.ones(2, 3, requires_grad=True)
            b = a.clone()
            out = (b ** 2).sum()
            b.sin_()
            out.sum().backward()
            print(a.grad)
    """,
    "masked_and_nested": """
        import warnings
        warnings.simplefilter("ignore")
        m = torch.masked.masked_tensor(torch.arange(4.0), torch.tensor([True, False, True, True]), requires_grad=True)
        s = (m * 2).sum()
        s.backward()
        print(m, s, m.grad)
        n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged, requires_grad=True)
        out = (n * 2).sin()
        out.values().sum().backward()
        print(out.shape, n.grad.values())
        p = torch.nested.to_padded_tensor(torch.nested.nested_tensor([torch.ones(2), torch.ones(1)]), 0.0)
        print(p)
    """,
    "parametrized": """
        import torch.nn.utils.parametrize as P
        class Symmetric(torch.nn.Module):
            def forward(self, X):
                return X.triu() + X.triu(1).transpose(-1, -2)
        layer = torch.nn.Linear(3, 3)
        P.register_parametrization(layer, "weight", Symmetric())
        with P.cached():
            print(torch.allclose(layer.weight, layer.weight.T), layer.weight is layer.weight)
        layer(torch.ones(1, 3)).sum().backward()
        print(layer.parametrizations.weight.original.grad)
        print(torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(2, 2)).weight.shape)
    """,
    "compiler_namespace": """
        print(torch.compiler.is_compiling(), torch.jit.is_scripting(), torch.jit.is_tracing())
        @torch.compiler.disable
        def f(x):
            return x + 1
        print(f(torch.ones(2)))
        torch.compiler.reset()
        print(torch.compiler.is_dynamo_compiling())
    """,
    "vmapped_training": """
        from torch.func import functional_call, stack_module_state, vmap, grad
        nets = [torch.nn.Linear(2, 1) for _ in range(2)]
        params, buffers = stack_module_state(nets)
        base = torch.nn.Linear(2, 1).to("meta")
        def loss(p, b, x, y):
            return ((functional_call(base, (p, b), (x,)) - y) ** 2).mean()
        x, y = torch.ones(4, 2), torch.zeros(4, 1)
        for step in range(3):
            g = vmap(grad(loss), in_dims=(0, 0, None, None))(params, buffers, x, y)
            params = {k: p - 0.1 * g[k] for k, p in params.items()}
        print(params)
    """,
    "printing_inside": """
        from torch.func import grad, vmap
        def f(x):
            print(x)
            print(x.shape, x.dtype, x.requires_grad)
            y = x * 2
            print(y)
            return y.sum()
        grad(f)(torch.ones(2))
        vmap(f)(torch.ones(2, 2))
        from torch.utils._python_dispatch import TorchDispatchMode
        class Count(TorchDispatchMode):
            n = 0
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                Count.n += 1
                return func(*args, **(kwargs or {}))
        with Count():
            f(torch.ones(2))
        print(Count.n)
    """,
}
"""By name; each is run with `import torch` and `import numpy as np` before it."""
