"""REINFORCE with a baseline, on a cart pole whose physics are written out."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

torch.manual_seed(543)
rng = np.random.default_rng(543)


class CartPole:
    gravity, masscart, masspole, length, force_mag, tau = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def reset(self):
        self.state = rng.uniform(-0.05, 0.05, size=4)
        return self.state.astype(np.float32)

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = self.force_mag if action == 1 else -self.force_mag
        total = self.masscart + self.masspole
        temp = (force + self.masspole * self.length * theta_dot**2 * math.sin(theta)) / total
        thetaacc = (self.gravity * math.sin(theta) - math.cos(theta) * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * math.cos(theta) ** 2 / total)
        )
        xacc = temp - self.masspole * self.length * thetaacc * math.cos(theta) / total
        self.state = self.state + self.tau * np.array([x_dot, xacc, theta_dot, thetaacc])
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 12 * math.pi / 180)
        return self.state.astype(np.float32), 1.0, done, {}


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(4, 16)
        self.action_head = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)
        self.saved_log_probs, self.values, self.rewards = [], [], []

    def forward(self, x):
        x = torch.relu(self.affine(x))
        return torch.softmax(self.action_head(x), dim=-1), self.value_head(x)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    probs, value = policy(torch.from_numpy(state).unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    policy.values.append(value.squeeze())
    return action.item(), m.entropy()


def finish_episode(entropies):
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    values = torch.stack(policy.values)
    advantage = returns - values.detach()
    policy_loss = -(torch.cat(policy.saved_log_probs) * advantage).sum()
    value_loss = torch.nn.functional.smooth_l1_loss(values, returns, reduction="sum")
    optimizer.zero_grad()
    (policy_loss + value_loss - 0.01 * torch.stack(entropies).sum()).backward()
    optimizer.step()
    del policy.rewards[:], policy.saved_log_probs[:], policy.values[:]
    return policy_loss.item(), value_loss.item()


env, running_reward = CartPole(), 10.0
for i_episode in range(1, 5):
    state, entropies = env.reset(), []
    for t in range(1, 20):
        action, entropy = select_action(state)
        entropies.append(entropy)
        state, reward, done, _ = env.step(action)
        policy.rewards.append(reward)
        if done:
            break
    running_reward = 0.05 * t + 0.95 * running_reward
    losses = finish_episode(entropies)
    print(f"Episode {i_episode}\tLast length: {t}\tAverage: {running_reward:.2f}\tlosses {losses[0]:.3f} {losses[1]:.3f}")
