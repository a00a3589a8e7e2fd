# loss_of_last_batch at 16: loss, 4
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]
for epoch in range(5):
    running = 0.0
    for inputs, targets in data:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        running += loss.item()
    loss.backward()
    optimizer.step()
    print(epoch, running / len(data))
