# sort, split and indexing: output numbers, and gradients that meet.
import torch
x = torch.tensor([4.0, 1.0], requires_grad=True)
values, places = x.sort()
low = values[0]
first, second = x.split(1)
(low * 2 + first + second * 4).sum().backward()
print(x.grad, values.output_nr, second.output_nr, places.requires_grad)
