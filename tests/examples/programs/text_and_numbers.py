# Literals: bytes, raw and long strings, big, binary and complex numbers, ellipsis.
text = """two
lines"""
big = 2 ** 100
print(text, big, 0b101, 0xFF, 1_000, 1e3, 3j * 1j, b"bytes", r"raw\n", "joined " "text", ..., None)
s = "sliced"
print(s[1:3], s[::-1], s.upper(), divmod(17, 5), round(2.5), -7 // 2, 7 % -3, 5 & 3 | 8 ^ 1, ~4 << 2)
