"""The program as text: what people paste, what is allowed, which programs ship with it. No torch here."""
