import copy

import torch

w = torch.tensor([1.0, 2.0])
box = [w, [w]]
shallow = copy.copy(box)
deep = copy.deepcopy(box)

w[0] = 8.0
box[1].append(4)
print(shallow)
print(deep)
print(deep[0] is deep[1][0])
