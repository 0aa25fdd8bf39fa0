"""Playing conversations with definitions that are not published: nothing is called, nothing is kept."""
