# eval_missing at 18: model, model.1
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
images, labels = torch.randn(6, 1, 6, 6), torch.tensor([0, 1, 2, 0, 1, 2])
for epoch in range(3):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# one picture at a time
predictions = []
for image in images[:2]:
    with torch.no_grad():
        scores = model(image[None])
    predictions.append(scores.argmax().item())
print(predictions)
