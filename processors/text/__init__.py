"""From text to words: cleaning, scripts, segmentation, stop words, and kinds of questions."""
