import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)

with torch.no_grad():
    plain = w * 4
with torch.inference_mode():
    fast = w * 4

(w * plain).sum().backward()
print(w.grad)

(w * fast).sum().backward()
