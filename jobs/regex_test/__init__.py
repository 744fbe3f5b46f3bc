"""ECMAScript regular expressions: their syntax, and V8 to run them."""
