import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2)).eval()
with torch.inference_mode():
    probs = torch.softmax(net(torch.randn(3, 2)), 1)
    best = probs.argmax(1)
print(best.tolist(), probs.sum(1).numpy())
