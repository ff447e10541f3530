"""From a query to what the kernel runs: rewrites, explanation, compilation."""
