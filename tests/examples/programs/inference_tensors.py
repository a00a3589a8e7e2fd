# Tensors made in inference mode have no version and may not be saved for backward.
import torch
with torch.inference_mode():
    x = torch.ones(2) * 4
print(x.is_inference(), x.requires_grad)
w = torch.ones(2, requires_grad=True)
for attempt in (lambda: w * x, lambda: x.add_(1), lambda: x._version):
    try:
        attempt()
    except RuntimeError as error:
        print(str(error).split(".")[0])
