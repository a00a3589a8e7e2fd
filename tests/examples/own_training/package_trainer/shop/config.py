SETTINGS = {"sizes": (4, 8, 3), "lr": 0.5, "rounds": 4}
