"""From jaxprs to StableHLO."""
