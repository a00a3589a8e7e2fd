# str.format with and without names, and the percent operator.
import torch
pi = torch.tensor(3.140625)
print("{:.3f} {name:>6}".format(pi.item(), name="pi"))
print("%.2f of %s" % (pi.item(), "circle"))
