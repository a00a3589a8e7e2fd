"""Activation checkpointing: the same gradients, the forward runs twice; checkpoint_sequential."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Block(nn.Module):
    calls = 0

    def __init__(self, dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, dim * 2), nn.Linear(dim * 2, dim)

    def forward(self, x):
        Block.calls += 1
        return x + self.fc2(torch.relu(self.fc1(x)))


class Net(nn.Module):
    def __init__(self, use_checkpoint):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4) for _ in range(3)])
        self.use_checkpoint = use_checkpoint

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.use_checkpoint else block(x)
        return x.sum()


torch.manual_seed(0)
plain, saving = Net(False), Net(True)
saving.load_state_dict(plain.state_dict())
x = torch.randn(2, 4)
for net in (plain, saving):
    Block.calls = 0
    loss = net(x)
    forward_calls = Block.calls
    loss.backward()
    print(f"{loss.item():.4f}", forward_calls, Block.calls)
print(all(torch.allclose(p.grad, q.grad) for p, q in zip(plain.parameters(), saving.parameters())))
seq = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU())
inp = torch.randn(2, 4, requires_grad=True)
out = checkpoint_sequential(seq, 2, inp, use_reentrant=False)
out.sum().backward()
print(inp.grad.shape, seq[0].weight.grad is not None)
