"""What a turn says of people: facts by frames, in English and Chinese, and the cards that they make up."""
