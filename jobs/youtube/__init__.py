"""Reads video URLs, lists of caption tracks and caption documents, each independently."""
