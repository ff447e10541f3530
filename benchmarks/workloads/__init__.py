"""Generated documents and the queries that are asked of them."""
