"""Search strategies over tool definitions."""
