import torch

w = torch.tensor([[1.0, 2.0], [4.0, 8.0]], requires_grad=True)
logits = torch.tensor([1.0, 1.0]) @ w
guess = logits.argmax()

loss = (guess - 4.0) ** 2
loss.requires_grad_()
loss.backward()

print(w.grad)
print(loss.grad)
