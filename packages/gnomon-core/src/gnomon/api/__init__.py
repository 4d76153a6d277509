"""What users call: argument checking and documentation in front of the transformations."""
