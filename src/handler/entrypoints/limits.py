"""The largest response that each way back to a caller carries."""

LAMBDA_RESPONSE_BYTES = 6_291_556
"""The most a function's synchronous response may have; Lambda drops a larger one after the function's success."""

ALB_RESPONSE_BYTES = 1_048_576
"""The most a load balancer takes from a function (Elastic Load Balancing, Lambda functions as targets)."""
