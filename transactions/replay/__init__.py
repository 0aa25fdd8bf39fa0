"""The pages of replays: a set of definitions over what really happened."""
