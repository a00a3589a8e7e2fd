"""The meta device: shapes without memory, to_empty, skip_init; lazy modules."""
import torch
from torch import nn

with torch.device("meta"):
    big = nn.Linear(10_000, 10_000)
print(big.weight.device, big.weight.shape, big(torch.empty(2, 10_000, device="meta")).shape)
small = nn.Linear(3, 2, device="meta")
small = small.to_empty(device="cpu")
nn.init.ones_(small.weight)
nn.init.zeros_(small.bias)
print(small(torch.ones(3)))
lazy = nn.Sequential(nn.LazyConv2d(4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
print(type(lazy[0]).__name__, lazy[0].has_uninitialized_params())
out = lazy(torch.randn(1, 1, 5, 5))
print(type(lazy[0]).__name__, lazy[3].in_features, out.shape)
skipped = nn.utils.skip_init(nn.Linear, 2, 2)
with torch.no_grad():
    skipped.weight.copy_(torch.eye(2))
    skipped.bias.zero_()
print(skipped(torch.tensor([1.0, 2.0])))
state = {"weight": torch.full((2, 3), 0.5), "bias": torch.zeros(2)}
assigned = nn.Linear(3, 2, device="meta")
print(assigned.load_state_dict(state, assign=True), assigned.weight.is_meta, assigned.weight.data_ptr() == state["weight"].data_ptr())
