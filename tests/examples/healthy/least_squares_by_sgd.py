import torch
torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
x, y = torch.tensor([[1.0, 2.0], [3.0, 1.0]]), torch.tensor([1.0, 2.0])
for epoch in range(3):
    loss = (x @ w - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(w, loss.item())
