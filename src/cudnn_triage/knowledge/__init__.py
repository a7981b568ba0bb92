"""The knowledge base: its files, its languages, its compiled form."""
