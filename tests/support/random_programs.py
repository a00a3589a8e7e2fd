"""Random programs of the kind that people write: what shares, writes, cuts and goes backward, in any order.

`python -m tests.support.random_programs FIRST LAST FOLDER` writes them as files; a seed gives the same program always.
"""

import random
import sys
from collections.abc import Callable
from pathlib import Path

IN_PLACE: dict[str, list[str]] = {
    "": [  # nothing but the tensor
        "abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bernoulli ceil "
        "cauchy",
        "conj_physical cos cosh deg2rad detach digamma erf erfc erfinv exp exp2 expm1 exponential fix floor frac i0 "
        "lgamma",
        "log log10 log1p log2 log_normal logical_not nan_to_num neg negative normal rad2deg random reciprocal relu",
        "requires_grad round rsqrt sgn sigmoid sign sin sinc sinh sqrt square squeeze t tan tanh tril triu trunc "
        "uniform zero",
        "rad2deg",
    ],
    "1": [
        "clamp clamp_max clamp_min clip fill pow float_power geometric(0.5) logit(0.25) mvlgamma polygamma unsqueeze(0)"
    ],
    "other": [
        "add arctan2 atan2 copysign div divide eq floor_divide fmod ge greater greater_equal gt heaviside hypot igamma",
        "igammac le less less_equal lt ldexp logical_and logical_or logical_xor mul multiply ne nextafter not_equal",
        "remainder sub subtract true_divide xlogy copy set",
    ],
}
ELSE = (
    "{x}.addcdiv_({y}, {y}, value=0.5)",
    "{x}.addcmul_({y}, {y})",
    "{x}.lerp_({y}, 0.5)",
    "{x}.cumsum_(0)",
    "{x}.cumprod_(0)",
    "{x}.transpose_(0, -1)",
    "{x}.swapaxes_(0, -1)",
    "{x}.swapdims_(0, -1)",
    "{x}.resize_({x}.numel()).zero_()",
    "{x}.as_strided_((1,), (1,))",
    "{x}.resize_as_({y}).zero_()",
    "{x}.renorm_(2, 0, 1.0)",
    "{x}.masked_fill_({x} > 1, 0.5)",
    "{x}.masked_scatter_({x} > 1, torch.zeros(64))",
    "{x}.index_fill_(0, torch.tensor([0]), 3.0)",
    "{x}.index_put_((torch.tensor([0]),), torch.tensor(2.0))",
    "{x}.put_(torch.tensor([0]), torch.tensor([4.0]))",
    "{x}.map_({y}.detach(), lambda a, b: a + b)",
    "{x}.map2_({y}.detach(), {y}.detach(), lambda a, b, c: a)",
    "{x}.apply_(lambda v: v + 1)",
    "torch.zeros(2, 2).addmm_(torch.ones(2, 3), torch.ones(3, 2))",
    "torch.zeros(2).addmv_(torch.ones(2, 3), torch.ones(3))",
    "torch.zeros(2, 3).addr_(torch.ones(2), torch.ones(3))",
    "torch.zeros(2, 2).addbmm_(torch.ones(1, 2, 2), torch.ones(1, 2, 2))",
    "torch.zeros(1, 2, 2).baddbmm_(torch.ones(1, 2, 2), torch.ones(1, 2, 2))",
    "torch.zeros(3, 3).fill_diagonal_(2.0)",
    "torch.zeros(3).index_add_(0, torch.tensor([0, 2]), torch.ones(2))",
    "torch.zeros(3).index_copy_(0, torch.tensor([1]), torch.ones(1))",
    "torch.ones(3).index_reduce_(0, torch.tensor([0, 0]), torch.ones(2), 'prod')",
    "torch.zeros(3).scatter_(0, torch.tensor([0, 2]), torch.ones(2))",
    "torch.zeros(3).scatter_add_(0, torch.tensor([0, 0]), torch.ones(2))",
    "torch.ones(3).scatter_reduce_(0, torch.tensor([1, 1]), torch.ones(2), 'sum')",
    "torch.tensor([4, 6]).gcd_(torch.tensor([6, 4]))",
    "torch.tensor([4, 6]).lcm_(torch.tensor([6, 4]))",
    "torch.tensor([5, 3]).bitwise_and_(1)",
    "torch.tensor([5, 3]).bitwise_or_(8)",
    "torch.tensor([5, 3]).bitwise_xor_(1)",
    "torch.tensor([5, 3]).bitwise_not_()",
    "torch.tensor([5, 3]).bitwise_left_shift_(1)",
    "torch.tensor([5, 3]).bitwise_right_shift_(1)",
    "{x} += 1",
    "{x} *= {y}",
    "{x}[0] = 7.0",
    "{x}[..., :1] -= 2.0",
    "{x}.data[0] = 5.0",
    "{x}.data += 1",
    "{x}.detach().mul_(2)",
    "{x}.data = {y}.data",
    "{x}.data = torch.ones(2)",
    "{x}.requires_grad_(False)",
    "torch.nn.init.ones_({x})",
)
VIEWS = (
    "{x}.view(-1)",
    "{x}[0]",
    "{x}[..., :1]",
    "{x}[None]",
    "{x}.t()",
    "{x}.T",
    "{x}.unsqueeze(0)",
    "{x}.expand(2, *{x}.shape)",
    "{x}.flatten()",
    "{x}.reshape(-1)",
    "{x}.narrow(0, 0, 1)",
    "{x}.chunk(2)[0]",
    "{x}.squeeze()",
    "{x}.unbind()[0]",
    "{x}.detach().view(torch.int32)",
    "torch.as_strided({x}, (2,), (1,))",
    "{x}.permute(*reversed(range({x}.dim())))",
    "{x}.diagonal()",
    "{x}.split(1)[0]",
    "{x}.real",
)
COPIES = (
    "{x}.clone()",
    "{x}.detach()",
    "{x}.data",
    "{x}.clone().detach()",
    "copy.deepcopy({x})",
    "copy.copy({x})",
    "torch.tensor({x})",
    "{x}.new_tensor({x})",
    "{x}",
    "torch.zeros_like({x}).copy_({x})",
    "{x}.to(torch.float64)",
    "{x}.to(torch.float32)",
    "{x}.contiguous()",
    "{x}.half()",
    "torch.nn.Parameter({x})",
    "[{x}, {y}][0]",
)
MATHS = (
    "{x} * 2",
    "{x} * {y}",
    "{x} + {y}",
    "{x}.exp()",
    "{x}.sigmoid()",
    "{x}.relu()",
    "{x} ** 2",
    "({x} * {x}).sum()",
    "{x}.sum()",
    "{x}.mean(0)",
    "torch.stack([{x}, {x}])",
    "torch.cat([{x}.flatten(), {y}.flatten()])",
    "{x}.max()",
    "{x}.sort()[0]",
    "torch.where({x} > 1, {x}, {x} * 2)",
    "{x}.prod()",
    "{x}.tanh() * {x}",
    "{x} / {y}",
    "torch.nn.functional.softmax({x}, 0)",
    "{x} @ {y}",
)
BACKWARD = (
    "{x}.sum().backward()",
    "{x}.sum().backward(retain_graph=True)",
    "({x} * {y}).sum().backward()",
    "({x} * {y}).sum().backward(create_graph=True)",
    "{x}.backward()",
    "{x}.backward(torch.ones_like({x}))",
    "{v} = torch.autograd.grad(({x} * {x}).sum(), {x})",
    "{x}.grad = None",
    "{x}.grad.zero_()",
    "{x}.retain_grad()",
)
HOOKS = (
    "{x}.register_hook(lambda g: g * 2)",
    "{x}.register_hook(print)",
    "{x}.register_hook(kept.append)",
    "{x}.register_post_accumulate_grad_hook(lambda p: p.data.add_(1))",
)
FAILING = (
    "{x}.view(97)",
    "torch.ones(2, 3) @ torch.ones(2, 3)",
    "{x}.nothing",
    "nobody + {x}",
    "raise ValueError('the end')",
    "(torch.ones(2, requires_grad=True) * 2).backward()",
    "assert {x} is None, 'not none'",
    "torch.ones(2, requires_grad=True).add_(1)",
)


def in_place() -> list[str]:
    """A template for every in-place method."""
    out = list(ELSE)
    for argument, rows in IN_PLACE.items():
        for word in " ".join(rows).split():
            name, _, given = word.rstrip(")").partition("(")
            arguments = given or {"": "", "1": "1", "other": "{y}"}[argument]
            if name == "polygamma":
                out.append("{x}.polygamma_(1)")
            else:
                out.append(f"{{x}}.{name}_({arguments})")
    return out


Kinds = list[tuple[float, Callable[[], list[str]]]]
"""How often a kind of statement is chosen, and what writes one."""


class Writer:
    """Writes one program."""

    IMPORTS: tuple[str, ...] = ("import copy", "", "import numpy as np", "import torch", "", "kept = []")

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines = [*self.IMPORTS]
        self._tensors: list[str] = []
        self._count = 0
        self._writes = in_place()

    def program(self) -> str:
        self._make()
        self._make()
        kinds = self._kinds()
        for _ in range(self._random.randrange(5, 14)):
            if self._random.random() < 0.1:
                self._make()
            statement = self._random.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]()
            guarded = self._random.random() < 0.93
            self._lines += ["try:", *(f"    {line}" for line in statement)] if guarded else statement
            if guarded:
                self._lines += ["except Exception as error:", "    print(type(error).__name__, str(error)[:60])"]
        shown = self._random.sample(self._tensors, min(2, len(self._tensors)))
        self._lines += ["try:", f"    print({', '.join(shown)})", "except Exception:", "    print('gone')"]
        if self._random.random() < 0.3:
            self._lines.append(self._fill(FAILING))
        return "\n".join(self._lines) + "\n"

    def _kinds(self) -> Kinds:
        kinds: Kinds = [
            (2.0, lambda: self._bind(VIEWS)),
            (2.0, lambda: self._bind(MATHS)),
            (2.0, lambda: self._bind(COPIES)),
            (4.0, lambda: [self._fill(self._writes)]),
            (2.0, lambda: [self._fill(BACKWARD)]),
            (0.8, self._mode),
            (0.6, self._function),
            (0.5, self._loop),
        ]
        if self._random.random() < 0.2:
            kinds.append((2.0, self._numpy))
        if self._random.random() < 0.2:
            kinds.append((2.0, lambda: [self._fill(HOOKS)]))
        return kinds

    def _new(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _fill(self, templates: tuple[str, ...] | list[str]) -> str:
        pick = self._random.choice
        return pick(templates).format(x=pick(self._tensors), y=pick(self._tensors), v=self._new())

    def _bind(self, templates: tuple[str, ...]) -> list[str]:
        line = self._fill(templates)
        name = self._new()
        self._tensors.append(name)
        return [f"{name} = {line}"]

    def _make(self) -> None:
        shape = self._random.choice(("3", "2, 3", "4", "2, 2", "1"))
        grad = self._random.choice(("", ", requires_grad=True"))
        value = self._random.choice(
            (
                f"torch.ones({shape}{grad})",
                f"torch.full(({shape},), 0.5{grad})",
                f"torch.tensor([1.0, 2.0, 3.0]{grad})",
                "torch.arange(6.0).view(2, 3).clone()",
                f"torch.nn.Parameter(torch.ones({shape}))",
            )
        )
        name = self._new()
        self._lines.append(f"{name} = {value}")
        self._tensors.append(name)

    def _mode(self) -> list[str]:
        mode = self._random.choice(
            ("torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()", "torch.set_grad_enabled(False)")
        )
        inside = self._random.choice(
            (lambda: self._bind(VIEWS), lambda: self._bind(MATHS), lambda: [self._fill(self._writes)])
        )()
        return [f"with {mode}:", *(f"    {line}" for line in inside)]

    def _function(self) -> list[str]:
        name = self._new()
        call = self._fill(("f({x}, {y})",))
        self._tensors.append(name)
        return [
            "def f(a, b):",
            "    c = a * b",
            "    d = c.detach()",
            "    if d.numel() > 2:",
            "        c = c + d",
            "    return c",
            f"{name} = {call}",
        ]

    def _loop(self) -> list[str]:
        name = self._new()
        return [
            f"{name} = []",
            "for k in range(3):",
            f"    {name}.append({self._fill(('{x} * k', '{x}.detach() + k', '{x}'))})",
        ]

    def _numpy(self) -> list[str]:
        name, back = self._new(), self._new()
        first = self._fill(("{x}.detach().numpy()", "np.arange(4.0)"))
        self._tensors.append(back)
        return [f"{name} = {first}", f"{back} = torch.from_numpy({name}.reshape(-1)[:2])", f"{name}.flat[0] = 9.0"]


def program(seed: int) -> str:
    return Writer(seed).program()


def main(first: int, last: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, last):
        (folder / f"r{seed:06d}.py").write_text(program(seed))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
