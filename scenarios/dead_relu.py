import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)

inner = torch.tensor([[2.0, 4.0], [1.0, 1.0]]) @ w
out = torch.relu(inner)
loss = ((out - 8) ** 2).sum()

loss.backward()
print(loss)
print(w.grad)
