import torch

torch.manual_seed(0)
model = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
best = model
for step in range(3):
    loss = (model(torch.ones(1, 1)) - step).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(best.weight, model.weight)
