"""The buckets of many words' character n-grams, as chainrule.vectors.subwords.buckets has them, and means over rows."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel


@kernel()
def hash_grams(data, offsets, shortest, longest, bucket, counts, out):
    """Fills the buckets of each word's n-grams, one after the other, and how many each word has; gives their number.

    `data` are the bytes of all words with their marks < and >; with an empty `out` only the counts are made.
    """
    size = 0
    for word in range(len(offsets) - 1):
        low, high, before = offsets[word], offsets[word + 1], size
        for start in range(low, high):
            if data[start] & 0xC0 == 0x80:  # inside a character of UTF-8
                continue
            h, end, length = np.uint32(2166136261), start, 0
            while end < high and length < longest:
                length += 1
                h = absorb(h, data[end])
                end += 1
                while end < high and data[end] & 0xC0 == 0x80:
                    h = absorb(h, data[end])
                    end += 1
                if length >= shortest and not (length == 1 and (start == low or end == high)):
                    if len(out):
                        out[size] = h % np.uint32(bucket)
                    size += 1
        counts[word] = size - before
    return size


@kernel()
def absorb(h, byte):
    """One byte of FNV-1a, as a signed one."""
    wide = np.uint32(byte) if byte < 128 else np.uint32(byte) | np.uint32(0xFFFFFF00)
    return np.uint32((h ^ wide) * np.uint32(16777619))


@kernel()
def mean_rows(table, starts, members, out):
    """out[w] = the mean of the rows members[starts[w]:starts[w + 1]]; rows of any width, not only whole cache lines."""
    for word in range(len(out)):
        first, last = starts[word], starts[word + 1]
        for d in range(out.shape[1]):
            out[word, d] = 0
        for m in range(first, last):
            for d in range(out.shape[1]):
                out[word, d] += table[members[m], d]
        for d in range(out.shape[1]):
            out[word, d] /= np.float32(last - first)
