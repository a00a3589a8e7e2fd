# A name that nobody bound, inside an expression.
total = 2
print(total + undefined_name)
