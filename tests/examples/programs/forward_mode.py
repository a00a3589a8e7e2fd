# A dual number carries its tangent through two operations.
import torch
import torch.autograd.forward_ad as fwAD
primal, tangent = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0])
with fwAD.dual_level():
    dual = fwAD.make_dual(primal, tangent)
    out = dual * dual + dual
    parts = fwAD.unpack_dual(out)
    print(parts.primal, parts.tangent)
print(out)
