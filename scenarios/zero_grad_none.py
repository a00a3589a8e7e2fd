import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)

(w * 2).sum().backward()
noted = w.grad

optimizer.zero_grad()
print(w.grad, noted)
gone = w.grad is None and noted.tolist() == [2.0, 2.0]
