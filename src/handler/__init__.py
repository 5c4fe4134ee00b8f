"""The Lambda function: a question in, the passages that answer it out. What ships, and nothing else."""
