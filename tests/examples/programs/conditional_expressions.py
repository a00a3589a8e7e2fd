# Chained comparisons, `not`, `and`, `or`, `in`, `is`.
n = 4
print("inside" if 1 < n <= 4 else "outside", not n, n and 3, 0 or "other", n is not None, 2 in [1, 2], 5 not in {5})
