"""The measurements of `make bench`, their goals and their report."""
