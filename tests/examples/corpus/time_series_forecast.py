"""Forecasting a sine with sliding windows: an LSTM, a linear model, multi-step prediction."""
import torch
from torch import nn

torch.manual_seed(0)
time = torch.arange(1, 61, dtype=torch.float32)
series = torch.sin(0.2 * time) + torch.normal(0, 0.05, (60,))
tau = 4
features = torch.stack([series[i:60 - tau + i] for i in range(tau)], dim=1)
labels = series[tau:].reshape((-1, 1))
print(features.shape, labels.shape)
train_x, train_y = features[:40], labels[:40]
mlp = nn.Sequential(nn.Linear(tau, 10), nn.ReLU(), nn.Linear(10, 1))


class Forecaster(nn.Module):
    def __init__(self, hidden=6):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x):
        out, (h, c) = self.lstm(x.unsqueeze(-1))
        return self.linear(out[:, -1])


for net in (mlp, Forecaster()):
    opt = torch.optim.Adam(net.parameters(), lr=0.05)
    for epoch in range(3):
        for k in range(0, 40, 20):
            loss = nn.functional.mse_loss(net(train_x[k:k + 20]), train_y[k:k + 20])
            opt.zero_grad()
            loss.backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        onestep = nn.functional.mse_loss(net(features[40:]), labels[40:])
        preds = torch.zeros(60)
        preds[:44] = series[:44]
        for i in range(44, 50):
            preds[i] = net(preds[i - tau:i].reshape((1, -1))).squeeze()
    print(type(net).__name__, f"{loss.item():.4f} {onestep.item():.4f}", preds[44:47])
