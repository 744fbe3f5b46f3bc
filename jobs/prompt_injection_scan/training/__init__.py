"""Makes the weights of prompt-injection-scan's statistical layer: `scripts/train-injection`."""
