import torch

w = torch.tensor(2.0, requires_grad=True)
for k in (1, 2):
    (w * k).backward()
    print(w.grad)
w.grad = None
