# unexplained_error: c detach
import torch
x = torch.arange(6.0).requires_grad_()
c = x.clone()
c.resize_(2, 2)  # cause
