# A list that holds itself, a dict that shares a tensor, pop and clear.
import torch
x = torch.ones(1)
items = [x]
items.append(items)
book = {"x": x, "items": items}
x += 1
print(book["x"], len(items), items[1] is items)
book.pop("x")
items.clear()
print(book)
