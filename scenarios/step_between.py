import torch

shared = torch.tensor(2.0, requires_grad=True)
head = torch.tensor(4.0, requires_grad=True)
optimizer = torch.optim.SGD([shared, head], lr=0.5)

hidden = shared * 8
loss1 = hidden * head
loss2 = hidden * head * 2

loss1.backward(retain_graph=True)
optimizer.step()
loss2.backward()
