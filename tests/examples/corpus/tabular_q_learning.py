"""Tabular Q-learning and value iteration on a grid, with tensors as tables."""
import random

import torch

random.seed(0)
size, actions = 3, [(0, 1), (1, 0), (0, -1), (-1, 0)]
goal = (2, 2)


def step(state, a):
    r, c = state[0] + actions[a][0], state[1] + actions[a][1]
    if not (0 <= r < size and 0 <= c < size):
        r, c = state
    return (r, c), (1.0 if (r, c) == goal else -0.05), (r, c) == goal


Q = torch.zeros(size, size, len(actions))
for episode in range(12):
    state, steps = (0, 0), 0
    done = False
    while not done and steps < 15:
        a = random.randrange(4) if random.random() < 0.3 else int(Q[state].argmax())
        new, reward, done = step(state, a)
        target = reward + (0.0 if done else 0.9 * Q[new].max())
        Q[state][a] += 0.5 * (target - Q[state][a])
        state, steps = new, steps + 1
print(Q.max(-1).values)
V = torch.zeros(size, size)
for sweep in range(10):
    new_V = V.clone()
    for r in range(size):
        for c in range(size):
            if (r, c) == goal:
                continue
            new_V[r, c] = max(rew + 0.9 * V[s] * (not d) for s, rew, d in (step((r, c), a) for a in range(4)))
    delta = (new_V - V).abs().max()
    V = new_V
    if delta < 1e-6:
        break
print(V, sweep)
