"""XOR, the smallest problem that needs a hidden layer."""
import torch
from torch import nn

torch.manual_seed(1)
X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(40):
    optimizer.zero_grad()
    loss = criterion(model(X), Y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")
with torch.no_grad():
    print((model(X) > 0.5).int().flatten().tolist())
for name, param in model.named_parameters():
    print(name, tuple(param.shape), f"{param.grad.norm().item():.4f}")
