import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
rnn, fc = nn.LSTM(16, 6, batch_first=True), nn.Linear(6, 2)
optimizer = torch.optim.Adam([p for m in (cnn, rnn, fc) for p in m.parameters()])
video, y = torch.randn(2, 5, 3, 6, 6), torch.tensor([0, 1])
for step in range(2):
    B, T = video.shape[:2]
    f = cnn(video.view(B * T, 3, 6, 6)).view(B, T, -1)
    out, _ = rnn(f)
    loss = F.cross_entropy(fc(out[:, -1]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
