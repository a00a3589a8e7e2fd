import torch
from torch import nn
torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(6, 8), nn.Dropout(0.1), nn.Linear(8, 6))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(3):
    prompt = torch.randint(0, 6, (4, 1))
    with torch.no_grad():
        tokens = prompt
        for _ in range(2):
            p = policy(tokens[:, -1]).softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(p, 1)], dim=1)
        old = policy(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None])[..., 0]
    reward = (tokens[:, 1:] == 3).float().sum(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    new = policy(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None])[..., 0]
    ratio = (new - old).exp()
    loss = -torch.min(ratio * advantage[:, None], ratio.clamp(0.8, 1.2) * advantage[:, None]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
