"""What may come in from a page: shape and limits, never rules about people or rows."""
