import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = [torch.randn(4, 4) for _ in range(12)]
STEPS = 3
for k, x in enumerate(batches):
    loss = (model(x) - 1).pow(2).mean()
    (loss / STEPS).backward()  # mistake accumulation_undivided: loss.backward()
    if (k + 1) % STEPS == 0:
        optimizer.step()
        optimizer.zero_grad()
        print(k, round(loss.item(), 4))
