"""The memory of GPUs and other devices: what is read of it without copying it, and what its allocator holds."""
