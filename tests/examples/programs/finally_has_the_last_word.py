# return in a finally overrides a return and swallows an error; an error in a with leaves through both.
def last(fails):
    try:
        if fails:
            raise ValueError("swallowed")
        return "from try"
    finally:
        if fails:
            return "from finally"
        print("finally")
print(last(True), last(False))
