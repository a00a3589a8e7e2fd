# `+=` on a name writes into the tensor; `x = x + 1` binds another one.
import torch
first = torch.zeros(2)
second = first
second += 4
third = second
third = third + 1
eye = torch.eye(2)
same = eye
eye @= torch.tensor([[0.0, 1.0], [1.0, 0.0]])
print(first, second is first, third, same)
