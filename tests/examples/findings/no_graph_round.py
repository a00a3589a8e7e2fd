# no_graph: loss
import torch
x = torch.tensor([0.6, 1.2], requires_grad=True)
loss = (x > 0.5).sum()  # cause
loss.backward()
