# rate_jumps at 14: `adam`
import copy
import torch

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
adam = torch.optim.Adam([w], lr=0.1)
for k in range(2):
    (w - 1).square().sum().backward()
    adam.step()
    adam.zero_grad()
saved = copy.deepcopy(adam.state_dict())
adam.load_state_dict(saved)
adam = torch.optim.Adam([w], lr=0.1)
for k in range(2):
    (w - 1).square().sum().backward()
    adam.step()
    adam.zero_grad()
print(w)
