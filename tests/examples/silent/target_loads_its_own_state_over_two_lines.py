# load_matched_nothing at 7: target
import torch, copy
from torch import nn
主 = nn.Linear(2, 1); target = copy.deepcopy(主)
opt = torch.optim.SGD(主.parameters(), lr=0.1)
loss = 主(torch.ones(1, 2)).sum(); loss.backward(); opt.step()
(target).load_state_dict(state_dict=
    dict(target.state_dict()))
print(target.weight)
