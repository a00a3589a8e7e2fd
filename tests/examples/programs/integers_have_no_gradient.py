# Only floating point tensors can require grad.
import torch
x = torch.tensor([1, 2], requires_grad=True)
