"""Values as they come from outside: clean text, tool calls and messages of any model provider."""
