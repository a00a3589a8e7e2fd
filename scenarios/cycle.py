import gc
import weakref

import torch

gc.disable()
t = torch.tensor([1.0, 2.0])
box = [t]
box.append(box)
watch = weakref.ref(t)

del t, box
gone = watch() is None
print(gone)

gc.collect()
print(watch() is None)
