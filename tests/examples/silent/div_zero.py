# nonfinite at 5: loss
import torch
x = torch.tensor([1., 2.], requires_grad=True)
mask = torch.tensor([0., 0.])
loss = (x * mask).sum() / mask.sum()
loss.backward()
print(loss, x.grad)
