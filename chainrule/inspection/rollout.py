"""Attention rollout: how much of each input token has come to each position, through all layers up to one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def rollout(layers: Sequence[np.ndarray]) -> list[np.ndarray]:
    r"""For each layer l the (T, T) matrix R_l, from the maps (H, T, T) of the layers from the input to the output.

    R_l = A_l R_{l−1},   R_0 = A_0,   A_l = ½ (W_l + I)

    W_l is the mean over the heads, I the stream that passes by each attention. Abnar & Zuidema 2020, arXiv:2005.00928,
    eq. 1 and §3. Only attention is followed: what feedforwards, recurrence or convolution between the layers do is not.
    """
    found: list[np.ndarray] = []
    for weights_HTT in layers:
        passing_TT = 0.5 * (weights_HTT.mean(axis=0) + np.eye(weights_HTT.shape[-1]))
        found.append(passing_TT @ found[-1] if found else passing_TT)
    return found
