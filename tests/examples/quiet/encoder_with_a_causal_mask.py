import torch
from torch import nn
torch.manual_seed(0)
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2)
for p in enc.parameters():
    if p.dim() > 1: nn.init.xavier_uniform_(p)
head = nn.Linear(4, 3)
opt = torch.optim.AdamW([*enc.parameters(), *head.parameters()], lr=1e-3)
mask = nn.Transformer.generate_square_subsequent_mask(5)
for step in range(3):
    x, y = torch.randn(2, 5, 4), torch.randint(0, 3, (2, 5))
    loss = nn.functional.cross_entropy(head(enc(x, mask=mask)).reshape(-1, 3), y.reshape(-1))
    opt.zero_grad(); loss.backward(); opt.step()
