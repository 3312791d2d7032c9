"""The one legend of dimension letters; array names with two or more axes end in theirs (`score_BHQK`).

B batch          T time             S source time     D width         F hidden width
H heads          E head width       Q query positions K key positions V vocabulary
C classes        N order            L layers          R rows
"""
