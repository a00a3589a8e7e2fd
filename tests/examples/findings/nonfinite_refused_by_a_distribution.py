# nonfinite: scores std
import torch
from torch.distributions import Categorical

torch.manual_seed(0)
policy = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
for batch in (torch.randn(5, 4), torch.randn(1, 4), torch.randn(5, 4)):
    scores = batch.sum(1)
    scores = (scores - scores.mean()) / scores.std()  # cause
    loss = -(Categorical(logits=policy(batch)).log_prob(torch.zeros(len(batch))) * scores).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
