import torch

t = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
first = t.clone().detach()
second = t.detach().clone()
third = t.new_tensor(t)

first[0] = 8.0
second[1] = 8.0
third[2] = 8.0
print(t)
holds = t.tolist() == [1.0, 2.0, 4.0] and not third.requires_grad
