"""What keeps a cold start short."""
