"""Product quantization of the input table: a row becomes a byte for every few numbers.

Joulin et al. 2016, arXiv:1612.03651; Jégou et al. 2011. Rows are cut into pieces of `piece` numbers; each place has 256
centroids, found by k-means from a spread beginning. With `norms`, lengths are quantized apart from directions; one of
their centroids is 0, for rows of zeros. With a cutoff, only the features whose vectors are longest are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from chainrule.threads import side_by_side

CENTROIDS = 256
POINTS = 64  # for each centroid that k-means looks at
ROUNDS = 25


@dataclass(frozen=True)
class QuantizedRows:
    """Row r is the centroids that codes[r] name, place by place; times its length where lengths are apart."""

    codes: np.ndarray  # (R, P) uint8
    centroids: np.ndarray  # (P, 256, piece)
    width: int
    norm_codes: np.ndarray | None = None
    norm_centroids: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        codes = self.codes[rows]
        found = self.centroids[np.arange(codes.shape[1]), codes].reshape(len(codes), -1)[:, : self.width]
        if self.norm_codes is not None and self.norm_centroids is not None:
            found = found * self.norm_centroids[self.norm_codes[rows]][:, None]
        return found

    def only(self, rows: np.ndarray) -> QuantizedRows:
        """These rows, quantized as they are."""
        lengths = None if self.norm_codes is None else self.norm_codes[rows]
        return replace(self, codes=self.codes[rows], norm_codes=lengths)

    def filled(self) -> np.ndarray:
        """(R,) which rows are not all zeros."""
        found = np.zeros(len(self), bool)
        for place, known in enumerate(np.asarray(self.centroids.any(2))):
            found |= known[self.codes[:, place]]
        if self.norm_codes is not None and self.norm_centroids is not None:
            found &= (self.norm_centroids != 0)[self.norm_codes]
        return found

    def tensors(self) -> dict[str, np.ndarray]:
        apart = {} if self.norm_codes is None or self.norm_centroids is None else {
            "norm_codes": self.norm_codes, "norm_centroids": self.norm_centroids}
        return {"codes": self.codes, "centroids": self.centroids, "width": np.array([self.width], np.int64), **apart}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, np.ndarray]) -> QuantizedRows:
        return cls(tensors["codes"], tensors["centroids"], int(tensors["width"][0]), tensors.get("norm_codes"),
                   tensors.get("norm_centroids"))


def quantized(table: np.ndarray, *, piece: int = 2, norms: bool = True, seed: int = 0) -> QuantizedRows:
    """The table in about width / piece bytes a row."""
    if norms:
        length = np.linalg.norm(table, axis=1).astype(np.float32)
        near = _coded(length[:, None], 1, seed, zeros=1)
        unit = table / np.where(length == 0, 1, length)[:, None]
        rest = _coded(unit, piece, seed)
        return QuantizedRows(*rest, table.shape[1], near[0][:, 0], near[1][0, :, 0])
    return QuantizedRows(*_coded(table, piece, seed), table.shape[1])


def longest_rows(table: np.ndarray, first: int, cutoff: int) -> np.ndarray:
    """The `cutoff` rows with the longest vectors, in their order; row 0, which every text has, is always there."""
    length = np.einsum("rd,rd->r", table, table)
    length[:first] = np.inf
    return np.sort(np.argsort(-length, kind="stable")[:cutoff])


def with_zeros(rows: QuantizedRows) -> QuantizedRows | None:
    """The same rows and a last one of zeros, which is a length of 0; None where all 256 lengths are others."""
    if rows.norm_codes is None or rows.norm_centroids is None:
        lengths, near = np.ones(CENTROIDS, np.float32), np.zeros(len(rows), np.uint8)
    else:
        lengths, near = np.array(rows.norm_centroids), rows.norm_codes
    lengths[np.bincount(near, minlength=CENTROIDS) == 0] = 0
    zeros = np.flatnonzero(lengths == 0)
    if not len(zeros):
        return None
    return QuantizedRows(np.concatenate([rows.codes, np.zeros((1, rows.codes.shape[1]), np.uint8)]), rows.centroids,
                         rows.width, np.append(near, zeros[:1].astype(np.uint8)), lengths)


def _coded(table: np.ndarray, piece: int, seed: int, *, zeros: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Codes (R, P) and centroids (P, 256, piece), the last of which stay 0; the last piece is filled up with zeros."""
    from chainrule.kernels.classifier_quantizing import cluster, nearest, spread

    places = -(-table.shape[1] // piece)
    wide = np.zeros((len(table), places * piece), np.float32)
    wide[:, : table.shape[1]] = table
    codes, centroids = np.zeros((len(table), places), np.uint8), np.zeros((places, CENTROIDS, piece), np.float32)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(table))[: CENTROIDS * POINTS]
    shares = rng.random((places, CENTROIDS))

    def work(place: int) -> None:
        points = np.ascontiguousarray(wide[:, place * piece : (place + 1) * piece])
        some = points[chosen]
        free = CENTROIDS - zeros
        centroids[place, :free] = cluster(some, spread(some, free, shares[place]), ROUNDS).T
        codes[:, place] = nearest(points, np.ascontiguousarray(centroids[place].T))

    work(0)
    side_by_side(work, range(1, places))
    return codes, centroids
