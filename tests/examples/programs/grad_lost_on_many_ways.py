# item, tolist, numpy, integer casts and comparisons cut the path.
import torch
x = torch.tensor([1.0, 4.0], requires_grad=True)
cuts = [x.sum().item(), x.tolist(), x.detach().numpy(), x.int(), x > 2, x.argmax(), x.detach() * 2]
print(cuts, [getattr(c, "requires_grad", None) for c in cuts])
kept = torch.tensor(x.sum().item()) + x[0]
kept.backward()
print(x.grad)
