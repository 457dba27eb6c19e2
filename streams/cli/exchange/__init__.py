"""Commands that bring turns in and out: add, publish, import, export, extract, hook."""
