# Every in-place write moves the version counter by one.
import torch
x = torch.ones(2)
seen = [x._version]
x.add_(1)
seen.append(x._version)
x[0] = 5
seen.append(x._version)
y = x.view(2, 1)
y.mul_(2)
seen.append(x._version)
print(seen, y._version)
