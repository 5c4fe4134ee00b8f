"""What `make bench` measures, how, and what is said about it."""
