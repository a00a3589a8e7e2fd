# leaf_inplace: lin.weight
import torch
lin = torch.nn.Linear(2, 2)
lin.weight.fill_(0.5)  # cause
