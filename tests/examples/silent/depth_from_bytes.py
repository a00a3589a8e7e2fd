# integer_wrapped at 6: uint8
import torch

torch.manual_seed(0)
image = torch.randint(1, 256, (4, 4, 3), dtype=torch.uint8)
depth = image[..., 1] * 2**8 + image[..., 2]
print(depth.float().mean())
