"""Native load: loaded tools are declared inside the conversation, and the list of tools never changes."""
