import torch

big = torch.arange(16.0)
head = big[:2]
copied = big[2:4].clone()

del big
kept = head.untyped_storage().nbytes()
print(kept, copied.untyped_storage().nbytes())

freed_the_rest = kept == 8
