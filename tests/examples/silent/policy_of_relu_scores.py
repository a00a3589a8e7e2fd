# relu_before_loss at 16: relu
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 16), nn.Linear(16, 3)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.relu(self.last(x))
        return F.log_softmax(x, dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(3):
    states, rewards = torch.randn(10, 4), torch.randn(10)
    log_probs = policy(states)
    actions = torch.multinomial(log_probs.detach().exp(), 1)
    loss = -(log_probs.gather(1, actions).squeeze(1) * rewards).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
