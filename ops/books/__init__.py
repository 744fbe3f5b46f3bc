"""Books that are kept longer than the ledger keeps payments: one SQLite file in COINSLOT_BOOKS_DIR (docs/books.md)."""
