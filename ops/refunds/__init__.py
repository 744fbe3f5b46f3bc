"""`coinslot-ops refunds`: unsigned transfers that pay back what was charged and never answered, and what chains show of them.

No key is held here. What is about one network is in the module that its package names (shared/networks.py): `lacks`, `built`,
`FORM` and `found`.
"""
