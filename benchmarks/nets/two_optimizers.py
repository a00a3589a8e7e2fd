import torch
import torch.nn as nn

torch.manual_seed(0)
encoder = nn.Linear(3, 2)
decoder = nn.Linear(2, 3)
opt_e = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9)
opt_d = torch.optim.AdamW(decoder.parameters(), lr=0.01)
x = torch.randn(4, 3)
for step in range(2):
    code = torch.sigmoid(encoder(x))
    restored = decoder(code)
    loss = nn.functional.mse_loss(restored, x)
    opt_e.zero_grad()
    opt_d.zero_grad()
    loss.backward()
    opt_e.step()
    opt_d.step()
