"""What is measured, one module per experiment; each returns plain data for JSON."""
