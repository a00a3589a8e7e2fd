import torch
from torch import nn

torch.manual_seed(0)
layers = []
for a, b in zip([4, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 3]):
    layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.Tanh(), nn.Dropout(0.1)]
model = nn.Sequential(*layers[:-3])
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in torch.utils.data.DataLoader(list(zip(torch.randn(8, 4), torch.randint(0, 3, (8,)))), batch_size=4):
        opt.zero_grad()
        criterion(model(x), y).backward()
        opt.step()
