"""The check of a release: a function of its own, which CodeDeploy invokes before it shifts traffic."""
