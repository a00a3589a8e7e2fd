# leaf_inplace: weights
import torch
def update(p):
    p.sub_(0.1)  # cause
weights = torch.ones(2, requires_grad=True)
update(weights)
