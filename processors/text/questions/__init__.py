"""What a question asks for: which kind of answer, whose slot, how complex it is, and whether it goes on from before."""
