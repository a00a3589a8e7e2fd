import torch
from model import Block

rounds = 3
width = 8
seed = 1
exec(open("configurator.py").read())  # overrides from the command line or a file, as nanoGPT has them
config = {k: v for k, v in globals().items() if not k.startswith("_") and isinstance(v, int)}
print(config)
torch.manual_seed(seed)
model = Block(width)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for k in range(rounds):
    x = torch.randn(4, 5, width)
    loss = (model(x) - x.roll(1, 1)).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"iter {k}: loss {loss.item():.4f}")
