import shared as shared  # before redis
