"""What recall is measured against: methods that people would use instead, on the same words and the same graph."""
