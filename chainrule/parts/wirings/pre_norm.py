"""Pre-norm wiring: normalize what goes into a sublayer, leave the stream alone."""

from chainrule.parts.wirings._pre_normed import PreNormed
from chainrule.recipe.registry import part


@part
class PreNorm(PreNormed):
    """Normalize what goes into a sublayer, and leave the stream alone.

    y = x + dropout(f(norm(x))); the stack ends with one more norm.

    Baevski & Auli 2019, arXiv:1809.10853; Xiong et al. 2020, arXiv:2002.04745.
    """
