"""A reward model from preferences and direct preference optimisation on toy logits."""
import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
reward = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
chosen, rejected = torch.randn(10, 4) + 0.5, torch.randn(10, 4) - 0.5
opt = torch.optim.Adam(reward.parameters(), lr=0.02)
for step in range(4):
    margin = reward(chosen) - reward(rejected)
    loss = -F.logsigmoid(margin).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f} {(margin > 0).float().mean().item():.2f}")
policy = nn.Linear(4, 6)
reference = copy.deepcopy(policy).requires_grad_(False)
prompts, y_w, y_l = torch.randn(8, 4), torch.randint(6, (8,)), torch.randint(6, (8,))


def log_probs(model, x, y):
    return F.log_softmax(model(x), -1).gather(1, y[:, None]).squeeze(1)


opt = torch.optim.SGD(policy.parameters(), lr=0.5)
beta = 0.1
for step in range(3):
    with torch.no_grad():
        ref_w, ref_l = log_probs(reference, prompts, y_w), log_probs(reference, prompts, y_l)
    logits = (log_probs(policy, prompts, y_w) - ref_w) - (log_probs(policy, prompts, y_l) - ref_l)
    loss = -F.logsigmoid(beta * logits).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.5f}")
kl = F.kl_div(F.log_softmax(reference(prompts), -1), F.log_softmax(policy(prompts), -1), log_target=True, reduction="batchmean")
print(kl.item() >= 0)
