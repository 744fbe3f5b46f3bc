"""What several endpoints share: reading EVM chains, reading pages, JSON Schema, and searching texts."""
