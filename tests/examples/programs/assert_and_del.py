# An assertion that holds, del of an item and of a name, and the NameError after it.
import torch
x = torch.ones(2)
assert x.sum() == 2, "never printed"
items = [1, 2, 3]
del items[0], x
print(items)
try:
    print(x)
except NameError as error:
    print(error)
