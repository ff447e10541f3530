"""Standing queries over streams of XML documents, evaluated together in one pass."""
