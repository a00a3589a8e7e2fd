# `=` copies nothing: three names, a list and a dict hold one tensor.
import torch
a = torch.zeros(2)
b = c = a
box = [a, b]
book = {"c": c}
b[0] = 4
print(a is b is c is box[1] is book["c"], book)
