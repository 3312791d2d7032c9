"""How word vectors are measured: one kind of test file a part."""

PARTS = "evaluation of word vectors"
