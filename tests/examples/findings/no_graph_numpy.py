# no_graph: loss
import torch
x = torch.ones(2, requires_grad=True)
y = (x * 3).detach().numpy()  # cause
loss = torch.from_numpy(y).sum()  # cause
loss.backward()
