import reporting
import torch

reporting.install("crash.txt")
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for k in range(3):
    loss = reporting.loss_of(model(torch.ones(2, 3)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(k, round(loss.item(), 4))
raise SystemError("the cluster went away")
