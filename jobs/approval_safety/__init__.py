"""How risky it is to approve a spender."""
