"""The ways in: each turns its event into a question, and the answer into what its caller expects."""
