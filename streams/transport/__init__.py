"""The two transports behind one interface, and the records that they carry."""
