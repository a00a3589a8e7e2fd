# unexplained_error: config KeyError
import torch
config = {"lr": 0.1}
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=config["rate"])  # cause
