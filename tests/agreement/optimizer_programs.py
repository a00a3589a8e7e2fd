"""Statements for every optimizer of torch: three steps with each of its switches, and digests of all that moved.

They follow `tests.agreement.module_programs.HEAD`.
"""

SHAPES = "torch.randn(3, 4), torch.randn(4), torch.randn(2, 2, 2)"
SHARED = ("", "maximize=True", "weight_decay=0.1", "foreach=True", "foreach=False", "differentiable=False")
SWITCHES: dict[str, tuple[str, ...]] = {
    "ASGD": (*SHARED, "t0=1, lambd=0.1", "capturable=False"),
    "Adadelta": (*SHARED, "capturable=False"),
    "Adafactor": ("", "maximize=True", "weight_decay=0.1", "foreach=True", "foreach=False", "lr=torch.tensor(0.1)"),
    "Adagrad": (*SHARED, "fused=True", "lr_decay=0.1, initial_accumulator_value=0.2"),
    "Adam": (
        *(*SHARED, "amsgrad=True", "fused=True", "fused=True, amsgrad=True, maximize=True, weight_decay=0.1"),
        *("amsgrad=True, foreach=True", "lr=torch.tensor(0.1), foreach=False", "decoupled_weight_decay=True"),
        "capturable=False",
    ),
    "AdamW": (*SHARED, "amsgrad=True", "fused=True", "fused=True, amsgrad=True", "amsgrad=True, foreach=True"),
    "Adamax": (*SHARED, "capturable=False"),
    "Muon": ("", "nesterov=False", "weight_decay=0.0", "adjust_lr_fn='match_rms_adamw'"),
    "NAdam": (*SHARED, "weight_decay=0.1, decoupled_weight_decay=True", "capturable=False"),
    "RAdam": (*SHARED, "weight_decay=0.1, decoupled_weight_decay=True", "betas=(0.5, 0.6)", "capturable=False"),
    "RMSprop": (*SHARED, "momentum=0.9", "centered=True", "centered=True, momentum=0.9, foreach=True"),
    "Rprop": ("", "maximize=True", "foreach=True", "foreach=False", "etas=(0.4, 1.3)", "capturable=False"),
    "SGD": (
        *(*SHARED, "momentum=0.9", "momentum=0.9, nesterov=True", "momentum=0.9, dampening=0.5, foreach=True"),
        *("fused=True", "fused=True, momentum=0.9, nesterov=True, weight_decay=0.1", "lr=torch.tensor(0.1)"),
    ),
}
"""What each is made with beside its parameters."""

STEPS = """\
for _ in range(3):
    optimizer.zero_grad()
    loss = sum((w * w.sin()).sum() for w in weights)
    loss.backward()
    optimizer.step()
"""
CLOSURE = """\
def closure():
    optimizer.zero_grad()
    loss = sum((w * w.sin()).sum() for w in weights)
    loss.backward()
    return loss
for _ in range(3):
    loss = optimizer.step(closure)
"""
LOOKUP = """\
table = nn.Embedding(6, 3, sparse=True)
weights = list(table.parameters())
optimizer = torch.optim.SparseAdam(weights{})
for index in ([1, 2], [2, 2, 5], [0]):
    optimizer.zero_grad()
    loss = table(torch.tensor(index)).square().sum()
    loss.backward()
    optimizer.step()
"""
OWN = """\
class Own(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for w in group["params"]:
                state = self.state[w]
                state["sum"] = state.get("sum", torch.zeros_like(w)).add_(w.grad.square())
                w.addcdiv_(w.grad, state["sum"].sqrt(), value=-group["lr"])
"""
UNROLLED = """\
start = torch.randn(3, requires_grad=True)
w, slope = start.clone(), torch.rand(3, requires_grad=True)
w.grad = slope.clone()
optimizer = torch.optim.{}([w], lr=0.1, differentiable=True)
optimizer.step()
w.square().sum().backward()
print("{} differentiable", digest(w), digest(start.grad, slope.grad))
"""
UNROLLS = ("Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD")
EXCLUDED: dict[str, str] = {}
"""Optimizers that have none, and why."""


def names() -> list[str]:
    """The optimizers that have statements here."""
    return sorted([*SWITCHES, "LBFGS", "Optimizer", "SparseAdam"])


def body(of: str) -> str:
    if of == "LBFGS":
        kinds = ("max_iter=3", "max_iter=3, line_search_fn='strong_wolfe'", "lr=0.1, max_iter=2, history_size=2")
        return "".join(section(f"torch.optim.LBFGS(weights, {kind})", STARTS, CLOSURE) for kind in kinds)
    if of == "Optimizer":
        return OWN + section("Own(weights, lr=0.1)", STARTS, STEPS)
    if of == "SparseAdam":
        kinds = ("", ", maximize=True", ", lr=torch.tensor(0.1)")
        return "".join(f"torch.manual_seed(1)\n{LOOKUP.format(kind)}{report(kind)}" for kind in kinds)
    starts = STARTS if of != "Muon" else STARTS.replace(SHAPES, "torch.randn(3, 4), torch.randn(4, 2)")
    source = "".join(
        section(f"torch.optim.{of}({', '.join(filter(None, ('weights', kind)))})", starts, STEPS)
        for kind in SWITCHES[of]
    )
    return source + (UNROLLED.format(of, of) if of in UNROLLS else "")


STARTS = f"weights = [w.requires_grad_() for w in ({SHAPES})]\n"


def section(make: str, starts: str, steps: str) -> str:
    """The statements for one optimizer, from fresh weights to what became of them."""
    return f"torch.manual_seed(1)\n{starts}optimizer = {make}\n{steps}{report(make)}"


def report(what: str) -> str:
    return (
        f"print({what!r}, digest(loss), digest(weights), digest([w.grad for w in weights]), "
        "digest(list(optimizer.state.values())))\n"
    )
