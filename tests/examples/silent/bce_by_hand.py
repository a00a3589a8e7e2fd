# nonfinite at 7: p, log
import torch
w = torch.tensor([50.0], requires_grad=True)
x = torch.tensor([2.0])
p = torch.sigmoid(w * x)
target = torch.tensor([1.0])
loss = -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()
loss.backward()
print(loss.item(), w.grad)
