"""Plug-ins of an operator: extractors, embedders, encoders, advisors, policies and sinks."""
