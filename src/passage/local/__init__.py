"""Run the function on this machine."""
