# break and continue out of try, with else and finally on every way.
turn = 0
while True:
    turn += 1
    try:
        if turn == 1:
            continue
        if turn == 2:
            raise KeyError("two")
        if turn == 4:
            break
    except (KeyError, IndexError) as error:
        print("caught", error)
    else:
        print("nothing raised")
    finally:
        print("turn", turn)
