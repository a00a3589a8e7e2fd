# not_scalar: loss
import torch
pred = torch.zeros(4, requires_grad=True)
loss = torch.nn.MSELoss(reduction="none")(pred, torch.ones(4))  # cause
loss.backward()  # cause
