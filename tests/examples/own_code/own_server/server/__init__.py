WHOSE = "mine"
