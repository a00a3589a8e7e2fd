"""Forward-mode automatic differentiation with dual numbers, and func.jvp."""
import torch
import torch.autograd.forward_ad as fwAD
from torch.func import jvp, linearize

primal = torch.tensor([1.0, 2.0, 3.0])
tangent = torch.tensor([1.0, 0.0, -1.0])


def fn(x, y):
    return x ** 2 + y ** 2


with fwAD.dual_level():
    dual_input = fwAD.make_dual(primal, tangent)
    assert fwAD.unpack_dual(dual_input).tangent is tangent
    dual_input_plain_tensor = dual_input.detach().clone()
    plain_tensor = torch.ones(3)
    dual_output = fn(dual_input, plain_tensor)
    jvp_ = fwAD.unpack_dual(dual_output).tangent
    print(jvp_, fwAD.unpack_dual(plain_tensor).tangent)
print(fwAD_none := None)
model = torch.nn.Linear(3, 2)
torch.manual_seed(0)
params = {name: p for name, p in model.named_parameters()}
tangents = {name: torch.ones_like(p) for name, p in params.items()}
with fwAD.dual_level():
    for name, p in params.items():
        delattr(model, name)
        setattr(model, name, fwAD.make_dual(p, tangents[name]))
    out = model(primal)
    print(fwAD.unpack_dual(out).tangent)


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, foo):
        result = torch.exp(foo)
        ctx.result = result
        return result

    @staticmethod
    def jvp(ctx, gI):
        gO = gI * ctx.result
        del ctx.result
        return gO


with fwAD.dual_level():
    print(fwAD.unpack_dual(Fn.apply(fwAD.make_dual(torch.zeros(2), torch.ones(2)))).tangent)
primal_out, tangent_out = jvp(lambda x: x.sin().sum(), (primal,), (tangent,))
print(primal_out, tangent_out)
output, jvp_fn = linearize(torch.sin, primal)
print(torch.allclose(jvp_fn(tangent), primal.cos() * tangent))
