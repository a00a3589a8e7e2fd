import torch

x = torch.tensor([1.0, -2.0])
negative = x < 0
print(negative, negative.any())

if negative.any():
    print("one of them at least")
if negative:
    print("never printed")
