"""Settings, profiles and models: everything a deployment configures."""
