"""Facts on people in turns: found by frames, in English and Chinese, and collected in cards."""
