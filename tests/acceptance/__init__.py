"""Real processes, spoken to only through the public contracts."""
