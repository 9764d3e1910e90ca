"""Parallel text from public sources: fetch, read, clean, split and write English-German sentence pairs."""
