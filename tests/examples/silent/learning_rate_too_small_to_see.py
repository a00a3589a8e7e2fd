# nothing_moves at 5: `optimizer`
import torch

points = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
optimizer = torch.optim.Adam([points], lr=1e-10)
for _ in range(3):
    loss = (points - 5).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
