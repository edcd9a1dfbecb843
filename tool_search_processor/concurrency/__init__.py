"""Threads, event loops, shared tasks, and calls of functions that users supply."""
