"""The current facts of a scope as columns in memory: derived, kept in step with the store, and lost without harm."""
