"""Views of a graph beside answers: habits, trends, summaries, pictures, neighbourhoods."""
