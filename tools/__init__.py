"""For developers, not in the package: the Qdrant and Bedrock doubles, SAM's containers, the built function."""
