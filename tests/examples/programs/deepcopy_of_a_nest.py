# deepcopy keeps sharing inside the copy; a non-leaf can't be copied.
import copy
import torch
x = torch.ones(2, requires_grad=True)
nest = {"a": x, "b": [x, (x, 1)]}
twin = copy.deepcopy(nest)
shallow = copy.copy(nest)
print(twin["a"] is twin["b"][0], twin["a"] is x, shallow["b"] is nest["b"])
copy.deepcopy(x * 2)
