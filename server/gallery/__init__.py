"""The gallery: scenarios, lessons, and what is made from them."""
