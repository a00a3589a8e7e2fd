import torch

import checks

checks.install()
w = torch.ones(3, requires_grad=True)
checks.loss_of(w).backward()
