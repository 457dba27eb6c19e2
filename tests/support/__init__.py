"""Builders that tests of several layers share: events with defaults, and logs that a fold accepts."""
