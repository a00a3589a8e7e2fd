"""The pages and films of a recorded run, and the process that draws them."""
