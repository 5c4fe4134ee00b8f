"""The only modules that import an SDK: its types go in, the core's come out; its errors go in, the core's come out."""
