import torch

torch.manual_seed(0)
body = torch.nn.Linear(2, 3)
head = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(body.parameters(), lr=0.1)
for step in range(3):
    loss = head(body(torch.ones(4, 2))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
