"""The catalogue of operations: a table for each group, the kinds of operands, and what is made from both."""
