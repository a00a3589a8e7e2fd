"""A net tuned in eval from one point on, a critic that rests in eval, labels and masks that something reads."""

import torch
from torch import nn

torch.manual_seed(0)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)

    def forward(self, x, labels=None, mask=None):
        kept = mask if mask is not None else torch.ones(len(x))
        return self.head(torch.relu(self.norm(self.body(x)))) * kept[:, None]


def accuracy(scores, labels):
    right = (scores > 0).flatten() == labels.bool()
    return right.float().mean().item()


scorer, critic = Scorer(), nn.Linear(1, 1)
opt = torch.optim.SGD(scorer.parameters(), lr=0.05)
critic_opt = torch.optim.SGD(critic.parameters(), lr=0.05)
x = torch.randn(12, 4)
labels = (x[:, 0] > 0).float()
mask = (torch.arange(12) % 3 > 0).float()
for epoch in range(4):
    scorer.train(epoch < 2)
    critic.train()
    critic_opt.zero_grad()
    critic(scorer(x, labels, mask).detach()).pow(2).mean().backward()
    critic_opt.step()
    critic.eval()
    opt.zero_grad()
    scores = scorer(x, labels, mask)
    (nn.functional.binary_cross_entropy_with_logits(scores.flatten(), labels) + 0.1 * critic(scores).mean()).backward()
    opt.step()
    print(epoch, accuracy(scores.detach(), labels))
