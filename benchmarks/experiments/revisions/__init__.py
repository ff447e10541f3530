"""Two checkouts side by side: core time of the same workloads, in pairs of runs."""
