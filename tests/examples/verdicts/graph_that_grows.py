import torch

weight = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
total = 0.0
for _ in range(4):
    loss = (weight * weight).sum()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    total = total + loss
print(total)
