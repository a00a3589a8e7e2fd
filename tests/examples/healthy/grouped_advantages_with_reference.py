import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(7, 8), nn.Linear(8, 7))
reference = copy.deepcopy(policy).requires_grad_(False).eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2)
prompts = torch.randint(0, 7, (4,))
for step in range(4):
    with torch.no_grad():
        answers = torch.distributions.Categorical(logits=policy(prompts)).sample((6,))
        old = F.log_softmax(policy(prompts), -1).expand(6, 4, 7).gather(-1, answers[..., None]).squeeze(-1)
    rewards = (answers == prompts).float()
    advantages = (rewards - rewards.mean(0)) / (rewards.std(0) + 1e-4)
    new = F.log_softmax(policy(prompts), -1).expand(6, 4, 7).gather(-1, answers[..., None]).squeeze(-1)
    with torch.no_grad():
        ref = F.log_softmax(reference(prompts), -1).expand(6, 4, 7).gather(-1, answers[..., None]).squeeze(-1)
    ratio = (new - old).exp()
    kl = (ref - new).exp() - (ref - new) - 1
    loss = -(torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages) - 0.04 * kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), rewards.mean().item())
