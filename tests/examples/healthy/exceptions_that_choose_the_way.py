import torch

table = {"a": torch.ones(2)}
layers = torch.nn.ModuleDict({"fc": torch.nn.Linear(2, 2)})
loader = iter(torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2))
count = 0
while True:
    try:
        batch = next(loader)
    except StopIteration:
        break
    count += batch.numel()
try:
    layer = layers["missing"]
except KeyError:
    layer = layers["fc"]
try:
    bias = layer.weights
except AttributeError:
    bias = layer.bias
try:
    size = int("three")
except ValueError:
    size = 3
print(count, layer(table.get("b", table["a"])).shape, bias.shape, size)
