# Assignment expressions in a test, a loop and a comprehension.
if (size := 4) > 2:
    print(size)
left = [3, 2, 1]
while (last := left.pop()) < 3:
    print(last)
print([twice for n in [1, 2, 3] if (twice := n * 2) > 2])
