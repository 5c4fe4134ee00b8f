"""Reads a site as its generator published it: a folder of HTML."""
