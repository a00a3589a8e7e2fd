"""What only a notebook needs: its cells, the one viewer that they share, and traces that fit into an output."""
