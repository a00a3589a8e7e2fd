# rate_jumps at 6: `optimizer`
import torch

w = torch.tensor([2.0, -1.0], requires_grad=True)
for step in range(4):
    optimizer = torch.optim.Adam([w], lr=0.1)
    loss = (w - 1).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
