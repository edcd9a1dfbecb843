"""The front of the Model Context Protocol: one catalog, listed, searched and called."""
