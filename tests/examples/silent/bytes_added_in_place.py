# integer_wrapped at 5: frames
import torch
frames = torch.tensor([[250, 3], [10, 200]], dtype=torch.uint8)
total = torch.tensor([100, 100], dtype=torch.uint8)
total += frames[0]
print(total)
