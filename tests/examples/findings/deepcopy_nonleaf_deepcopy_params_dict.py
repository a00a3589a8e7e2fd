# deepcopy_nonleaf: fast
import copy
import torch
w = {"a": torch.ones(2, requires_grad=True)}
loss = (w["a"] ** 2).sum()
g = torch.autograd.grad(loss, w["a"])[0]
fast = {"a": w["a"] - 0.1 * g}  # cause
backup = copy.deepcopy(fast)  # cause
