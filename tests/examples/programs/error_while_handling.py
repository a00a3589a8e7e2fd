# An error raised by a handler, with the first one as its context, in three blocks.
log = []
try:
    try:
        {}["key"]
    except KeyError:
        log.append("handler")
        [][0]
    finally:
        log.append("finally")
except IndexError as error:
    print(log, type(error.__context__).__name__)
raise LookupError("again") from None
