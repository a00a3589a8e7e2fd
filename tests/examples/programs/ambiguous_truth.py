# The truth of a tensor with several elements.
import torch
x = torch.ones(2)
if (x > 0).all():
    print("all")
if x > 0:
    print("never")
