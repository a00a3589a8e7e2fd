# A type error of plain Python on the second line of a statement.
label = "loss "
print(
    label
    + 4)
