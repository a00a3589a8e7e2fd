# Half of a surrogate pair has no form in UTF-8: printing it raises, and what came before it on the line is printed.
try:
    print("before", chr(0xD800))
except UnicodeEncodeError as error:
    print()
    print(error)
print(ascii(chr(0xD800)))
