import torch

torch.manual_seed(0)
q = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
now, later, reward = torch.randn(4, 2), torch.randn(4, 2), torch.rand(4, 1)
for step in range(2):
    target = reward + 0.9 * q(later)
    loss = torch.nn.functional.mse_loss(q(now), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
