"""k-means for product quantization: nearest centroids and their means; equals NumPy's argmin and mean."""

from __future__ import annotations

import numpy as np

from chainrule.kernels.compiled import kernel


@kernel(fastmath=True)
def nearest(points, centers):
    """(N,) the number of the nearest of the centers, which are columns: the inner loop runs over them."""
    found = np.empty(len(points), np.uint8)
    gaps = np.empty(centers.shape[1], np.float32)
    for n in range(len(points)):
        for c in range(centers.shape[1]):
            gaps[c] = np.float32(0)
        for d in range(centers.shape[0]):
            value = points[n, d]
            for c in range(centers.shape[1]):
                gap = value - centers[d, c]
                gaps[c] += gap * gap
        best = 0
        for c in range(1, centers.shape[1]):
            if gaps[c] < gaps[best]:
                best = c
        found[n] = best
    return found


@kernel()
def spread(points, count, shares):
    """(d, count) first centers, each a point, drawn with chances ∝ its squared distance from those before.

    Arthur & Vassilvitskii 2007, k-means++; `shares` are random numbers from 0 to 1, one for each center.
    """
    centers = np.zeros((points.shape[1], count), np.float32)
    gaps = np.full(len(points), np.float64(np.inf))
    chosen = np.int64(shares[0] * len(points))
    for c in range(count):
        total = 0.0
        for d in range(points.shape[1]):
            centers[d, c] = points[chosen, d]
        for n in range(len(points)):
            gap = 0.0
            for d in range(points.shape[1]):
                gap += np.float64(points[n, d] - centers[d, c]) ** 2
            gaps[n] = min(gaps[n], gap)
            total += gaps[n]
        if c + 1 < count:
            aim, chosen = shares[c + 1] * total, np.int64(0)
            while chosen < len(points) - 1 and aim >= gaps[chosen]:
                aim -= gaps[chosen]
                chosen += 1
    return centers


@kernel()
def cluster(points, centers, rounds):
    """Lloyd's k-means; a center without points stays where it was."""
    for _ in range(rounds):
        own = nearest(points, centers)
        sums, counts = np.zeros(centers.shape, np.float64), np.zeros(centers.shape[1], np.int64)
        for n in range(len(points)):
            counts[own[n]] += 1
            for d in range(centers.shape[0]):
                sums[d, own[n]] += points[n, d]
        moved = False
        for c in range(centers.shape[1]):
            for d in range(centers.shape[0]):
                if counts[c]:
                    mean = np.float32(sums[d, c] / counts[c])
                    moved = moved or mean != centers[d, c]
                    centers[d, c] = mean
        if not moved:
            break
    return centers
