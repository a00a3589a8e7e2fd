import torch
import numpy as np

from torch.func import functional_call, vmap, replace_all_batch_norm_modules_
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
replace_all_batch_norm_modules_(net)
print(vmap(net)(torch.arange(12.0).view(3, 2, 2)))
