# shape_mismatch: lstm
import torch
from torch import nn
lstm = nn.LSTM(input_size=5, hidden_size=3, batch_first=True)  # cause
x = torch.randn(2, 7, 4)  # cause
out, _ = lstm(x)  # cause
