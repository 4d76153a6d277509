"""What users call: arguments are checked and documented, then transformations run."""
