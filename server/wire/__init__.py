"""Every value that crosses a process or the network, declared once; imports pydantic and nothing of ours."""
