import copy

import torch

t = torch.zeros(2)
a = [t, [t]]
b = copy.copy(a)
c = copy.deepcopy(a)
t += 1
a.append(b)
