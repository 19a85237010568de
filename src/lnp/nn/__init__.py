"""Networks; they know nothing of labels or noise."""
