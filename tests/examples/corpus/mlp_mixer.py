"""An MLP-Mixer: token mixing and channel mixing."""
import torch
from torch import nn


class MlpBlock(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class MixerLayer(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token_mix, self.channel_mix = MlpBlock(tokens, 2 * tokens), MlpBlock(dim, 2 * dim)

    def forward(self, x):
        x = x + self.token_mix(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel_mix(self.norm2(x))


torch.manual_seed(0)
patches = nn.Unfold(kernel_size=2, stride=2)
images = torch.randn(3, 1, 4, 4)
tokens = patches(images).transpose(1, 2)
print(tokens.shape)
net = nn.Sequential(nn.Linear(4, 6), MixerLayer(4, 6), MixerLayer(4, 6), nn.LayerNorm(6))
head = nn.Linear(6, 2)
logits = head(net(tokens).mean(dim=1))
loss = nn.functional.cross_entropy(logits, torch.tensor([0, 1, 0]))
loss.backward()
print(f"{loss.item():.4f}", net[1].token_mix[0].weight.grad.norm() > 0)
for name, module in net.named_modules():
    if isinstance(module, nn.Linear):
        print(name, tuple(module.weight.shape))
