"""Double DQN with a replay memory and a soft target update, on a grid world of its own."""

import math
import random
from collections import deque, namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

random.seed(3)
torch.manual_seed(3)

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class GridWorld:
    """3 x 3, from a corner to the other; a pit in the middle."""

    MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def reset(self):
        self.at = (0, 0)
        self.steps = 0
        return self.observe()

    def observe(self):
        return torch.tensor([self.at[0] / 2, self.at[1] / 2, float(self.at == (1, 1))])

    def step(self, action):
        dy, dx = self.MOVES[action]
        self.at = (min(2, max(0, self.at[0] + dy)), min(2, max(0, self.at[1] + dx)))
        self.steps += 1
        if self.at == (2, 2):
            return self.observe(), 1.0, True
        if self.at == (1, 1):
            return self.observe(), -1.0, True
        return self.observe(), -0.05, self.steps >= 10


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 16)
        self.layer2 = nn.Linear(16, n_actions)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


BATCH_SIZE, GAMMA, TAU, LR = 16, 0.95, 0.05, 1e-2
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 60
env = GridWorld()
policy_net, target_net = DQN(3, 4), DQN(3, 4)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)
memory = ReplayMemory(200)
steps_done = 0


def select_action(state):
    global steps_done
    eps = EPS_END + (EPS_START - EPS_END) * math.exp(-1.0 * steps_done / EPS_DECAY)
    steps_done += 1
    if random.random() > eps:
        with torch.no_grad():
            return policy_net(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(4)]], dtype=torch.long)


def optimize_model():
    if len(memory) < BATCH_SIZE:
        return None
    batch = Transition(*zip(*memory.sample(BATCH_SIZE)))
    non_final_mask = torch.tensor([s is not None for s in batch.next_state], dtype=torch.bool)
    state_batch, action_batch, reward_batch = map(torch.cat, (batch.state, batch.action, batch.reward))
    values = policy_net(state_batch).gather(1, action_batch)
    next_values = torch.zeros(BATCH_SIZE)
    if non_final_mask.any():
        next_states = torch.cat([s for s in batch.next_state if s is not None])
        with torch.no_grad():
            best = policy_net(next_states).argmax(1, keepdim=True)
            next_values[non_final_mask] = target_net(next_states).gather(1, best).squeeze(1)
    expected = (next_values * GAMMA) + reward_batch
    loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


for episode in range(5):
    state = env.reset().unsqueeze(0)
    total, last = 0.0, None
    for t in count():
        action = select_action(state)
        observation, reward, done = env.step(action.item())
        next_state = None if done else observation.unsqueeze(0)
        memory.push(state, action, next_state, torch.tensor([reward]))
        state = next_state
        total += reward
        last = optimize_model() or last
        target_state, policy_state = target_net.state_dict(), policy_net.state_dict()
        for key in policy_state:
            target_state[key] = policy_state[key] * TAU + target_state[key] * (1 - TAU)
        target_net.load_state_dict(target_state)
        if done:
            print(f"episode {episode}: {t + 1} steps, return {total:.2f}, loss {last and round(last, 4)}")
            break

print(len(memory), steps_done)
print(policy_net(torch.tensor([[0.0, 0.0, 0.0]])))
