"""The program as text: what people paste, what is refused, repairs and fixes."""
