# attention_weights at 14: `padding`
import torch
from torch import nn

torch.manual_seed(4)
proj = nn.Linear(6, 18)
head = nn.Linear(6, 1)
optimizer = torch.optim.SGD([*proj.parameters(), *head.parameters()], lr=0.05)
frames, lengths, goal = torch.randn(3, 5, 6), torch.tensor([5, 3, 2]), torch.randn(3, 1)
for step in range(3):
    q, k, v = proj(frames).split(6, dim=2)
    score = torch.bmm(q, k.transpose(1, 2)) / 6 ** 0.5
    padding = (torch.arange(5).expand(3, 5) >= lengths.unsqueeze(1)).float()
    score = score + (padding * -1e9)[:, :, None]
    attended = torch.bmm(torch.softmax(score, dim=2), v)
    loss = (head(attended.mean(dim=1)) - goal).pow(2).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
