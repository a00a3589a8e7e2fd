# grad_none at 5: a, loss
import torch
import numpy as np
a = torch.tensor([1., 2.], requires_grad=True)
b = torch.from_numpy(np.exp(a.detach().numpy()))
b.requires_grad_()
loss = (b * 2).sum()
loss.backward()
print(a.grad)
