"""The gallery: scenarios, lessons, and what is made of them."""
