"""The files of exports: lines of text, documents, and archives of many files."""
