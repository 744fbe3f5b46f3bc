"""What happened in a transaction, in a sentence and in data."""
