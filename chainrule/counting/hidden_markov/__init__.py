"""Hidden Markov models of tags: counts of tags after tags and of words with tags, and the best tags by Viterbi's."""
