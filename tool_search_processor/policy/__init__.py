"""Who may find, load and use which tool: the filter, and asking it."""
