"""Table files on disk: writing, reading, keeping and probing them."""
