# saved_overwritten: states
import torch
h = torch.zeros(2, requires_grad=True)
states = [h.exp()]
for k in range(2):
    states.append(states[-1].sigmoid())
states[1] *= 2  # cause
sum(s.sum() for s in states).backward()
