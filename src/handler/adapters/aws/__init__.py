"""AWS services: secrets, and destinations for replies."""
