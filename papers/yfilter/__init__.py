"""YFilter: path matching, and the operators of the paper on message brokering."""
