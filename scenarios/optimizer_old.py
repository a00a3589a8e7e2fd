import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)

w = w.detach().double().requires_grad_()

loss = (w * w).sum()
loss.backward()
optimizer.step()

print(w.grad)
print(w)
