# nonfinite at 5: in_feat, norm_factor, sqrt
import torch

def normalize_tensor(in_feat, eps=1e-10):
    norm_factor = torch.sqrt(torch.sum(in_feat ** 2, dim=1, keepdim=True))
    return in_feat / (norm_factor + eps)

feats = torch.tensor([[1.0, 2.0], [0.0, 0.0]], requires_grad=True)
d = (normalize_tensor(feats) - 0.5).pow(2).sum()
d.backward()
print(d.item(), feats.grad)
