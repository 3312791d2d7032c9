"""Files of word vectors as other programs write and read them: text, word2vec's binary, fastText's models."""
