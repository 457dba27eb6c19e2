"""Interfaces of other programs: MCP, mem0, and OpenAI's chat completions."""
