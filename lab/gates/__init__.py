"""Gates: rules that decide, as a turn is recorded, whether it is counted."""
