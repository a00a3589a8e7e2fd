import torch
A = torch.tensor([[1.0, 0.1], [0.0, 1.0]], requires_grad=True)
x_est = torch.zeros(2)
optim = torch.optim.SGD([A], lr=0.01)
for z in [torch.tensor([1.0, 0.5]), torch.tensor([1.2, 0.4]), torch.tensor([1.3, 0.3])]:
    x_est = torch.sin(A @ x_est.detach() + z)
    loss = (x_est - z).pow(2).sum()
    optim.zero_grad()
    loss.backward()
    optim.step()
