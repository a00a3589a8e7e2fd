import torch
h = torch.zeros(2, requires_grad=True)
states = [h.exp()]
for k in range(2):
    states.append(states[-1].sigmoid())
states = [states[0], states[1] * 2, states[2]]
sum(s.sum() for s in states).backward()
