# nonfinite at 6: x, sqrt
import torch
torch.manual_seed(0)
x = torch.randn(3, 2, requires_grad=True)
diff = x.unsqueeze(0) - x.unsqueeze(1)
dist = diff.pow(2).sum(-1).sqrt()
loss = dist.mean()
loss.backward()
print(x.grad)
