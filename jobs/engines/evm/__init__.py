"""Reading EVM chains: the port, addresses, amounts, ABI, selectors, tokens, reverts."""
