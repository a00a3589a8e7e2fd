"""The memory of GPUs and other devices: how it is read without copying it, and what its allocator holds."""
