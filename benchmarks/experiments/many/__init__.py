"""Many subscriptions: documents/s and memory from one query to a million, beside the peers."""
