# a return of a constant and of a computed value, with a finally that comes before it leaves
def f(x):
    try:
        return -1
    finally:
        z = [1, x]
def g(x):
    for k in (1, 2):
        try:
            return 2 * 3, 4
        finally:
            z = 1
def h(x):
    try:
        1 / 0
    except ZeroDivisionError as e:
        return [x, 1]
    finally:
        z = 1
def j(x):
    try:
        1 / 0
    except ZeroDivisionError as e:
        return x + 1
def m(x):
    return x if x else 5
def n(x):
    try:
        return x if x else 5
    finally:
        if x:
            z = 2
        else:
            z = 3
def o(x):
    try:
        return x and x * 2 or 3
    finally:
        pass
def p(x):
    try:
        return [k for k in range(x)]
    finally:
        return [x]
def q(x):
    while True:
        try:
            return x + 1
        finally:
            x += 1
            if x < 5:
                continue
a = [f(3), g(3), h(3), j(3), m(3), m(0), n(3), n(0), o(3), o(0), p(3), q(3)]
print(a)
def over():
    try:
        return 1
    finally:
        return 2
y = over()
