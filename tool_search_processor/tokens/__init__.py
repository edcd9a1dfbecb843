"""Tokens: what text and tool definitions cost, and the limiter of a step."""
