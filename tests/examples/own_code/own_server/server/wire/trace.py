WHOSE = "mine too"
