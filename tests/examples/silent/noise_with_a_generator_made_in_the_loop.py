# same_numbers at 7: sample =
import torch

w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(4):
    generator = torch.Generator().manual_seed(7)
    sample = torch.rand(4, 3, generator=generator)
    loss = (sample @ w - step).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
