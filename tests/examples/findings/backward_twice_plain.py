# backward_twice: loss
import torch
x = torch.tensor(2.0, requires_grad=True)
loss = x ** 2
loss.backward()  # cause
loss.backward()  # cause
