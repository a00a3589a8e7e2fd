# Format specifications, conversions, `=` and nesting inside f-strings.
import torch
value = torch.tensor(2.71828)
width = 8
print(f"{value.item():.2f}|{value.item():{width}.3f}|{value!r}|{value=}")
print(f"{'yes' if value > 2 else 'no'} {[n for n in range(3)]} {{}}")
