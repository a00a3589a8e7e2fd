import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5)
average = w.detach().clone()

for step in range(3):
    optimizer.zero_grad()
    (w * 4).sum().backward()
    optimizer.step()
    average = 0.5 * average + 0.5 * w

print(average)
