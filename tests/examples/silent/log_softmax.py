# nonfinite at 4: p
import torch
x = torch.tensor([1000., 0.], requires_grad=True)
p = torch.exp(x) / torch.exp(x).sum()
loss = -torch.log(p[0])
loss.backward()
print(loss, x.grad)
