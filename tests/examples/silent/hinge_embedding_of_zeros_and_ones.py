# sign_targets at 8: `same`, hinge_embedding_loss
import torch
from torch import nn

torch.manual_seed(0)
net, pairs = nn.Linear(3, 2), torch.randn(2, 8, 3)
same = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0])
loss = nn.HingeEmbeddingLoss()((net(pairs[0]) - net(pairs[1])).abs().sum(1), same)
loss.backward()
