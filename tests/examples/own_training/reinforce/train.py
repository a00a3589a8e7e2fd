import torch
from torch.distributions import Categorical

torch.manual_seed(0)


class Corridor:
    """Five places; the right end pays."""

    def reset(self):
        self.place = 2
        return self.seen()

    def seen(self):
        return torch.nn.functional.one_hot(torch.tensor(self.place), 5).float()

    def step(self, action):
        self.place += 1 if action else -1
        return self.seen() if 0 <= self.place < 5 else None, float(self.place == 4)


policy = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
environment = Corridor()


def play():
    seen, log_probabilities, rewards = environment.reset(), [], []
    while seen is not None and len(rewards) < 20:
        chances = Categorical(logits=policy(seen))
        action = chances.sample()
        log_probability = chances.log_prob(action)  # mistake no_graph: log_probability = chances.log_prob(action).detach()
        log_probabilities.append(log_probability)
        seen, reward = environment.step(action.item())
        rewards.append(reward)
    return log_probabilities, rewards


for episode in range(6):
    log_probabilities, rewards = play()
    loss = -torch.stack(log_probabilities).sum() * (sum(rewards) + 0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, len(rewards), sum(rewards))
