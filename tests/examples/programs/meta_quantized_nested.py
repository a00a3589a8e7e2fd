# Tensors without data, with a scale, and of unequal lengths.
import torch
ghost = torch.ones(2, 3, device="meta")
print((ghost @ ghost.t()).shape, ghost.device)
q = torch.quantize_per_tensor(torch.tensor([0.5, 1.0]), 0.5, 0, torch.qint8)
print(q.int_repr(), q.q_scale())
n = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])
print(n.size(0), [t.shape for t in n.unbind()])
del ghost, n
