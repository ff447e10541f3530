"""The algorithms of five papers as they were published, beside the product that came of them."""
