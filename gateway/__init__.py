"""The gateway: HTTP and MCP over the client's contract.  It imports `emgas` alone and never touches the log."""
