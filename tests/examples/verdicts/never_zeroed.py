import torch

weight = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    loss = (weight * weight).sum()
    loss.backward()
    optimizer.step()
