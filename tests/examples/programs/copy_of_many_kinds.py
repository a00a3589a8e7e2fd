# clone, detach, new_tensor, torch.tensor, copy_, empty_like: who shares, who has a graph.
import torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
kinds = {"clone": a.clone(), "detach": a.detach(), "both": a.detach().clone(), "new": a.new_tensor([4.0, 8.0])}
kinds["copy_"] = torch.zeros(2).copy_(a)
kinds["list"] = torch.tensor(a.tolist())
with torch.no_grad():
    a[0] = 16
for name, t in kinds.items():
    print(name, t, t.requires_grad, t.is_leaf)
