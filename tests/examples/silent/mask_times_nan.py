# nonfinite at 5: per
import torch
x = torch.tensor([1.0, 4.0], requires_grad=True)
lengths = torch.tensor([2.0, 0.0])
per = x / lengths
mask = (lengths > 0).float()
loss = (per * mask).sum()
loss.backward()
print(loss)
