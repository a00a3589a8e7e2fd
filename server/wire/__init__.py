"""Every value that crosses a process or the network, declared once. Imports pydantic and none of our modules."""
