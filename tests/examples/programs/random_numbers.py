# Seeds of torch and of Python; dropout draws from torch's.
import random
import torch
torch.manual_seed(7)
drop = torch.nn.Dropout(0.5)
print(drop(torch.ones(6)), torch.randint(0, 8, (3,)), torch.randperm(4))
state = torch.get_rng_state()
first = torch.rand(2)
torch.set_rng_state(state)
print(torch.equal(first, torch.rand(2)))
random.seed(7)
print(random.randint(0, 100), drop.eval()(torch.ones(2)))
