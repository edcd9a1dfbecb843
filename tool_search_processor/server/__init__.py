"""Servers: a catalog over REST and over the Model Context Protocol."""
