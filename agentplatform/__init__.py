"""The wiring of Agent Platform: settings, urls, entrances."""
