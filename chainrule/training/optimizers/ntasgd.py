"""NT-ASGD: gradient descent whose weights are averaged once the validation loss stops falling."""

from chainrule.errors import OptionError
from chainrule.recipe.registry import part
from chainrule.training.optimizers._groups import Named, check_rate
from chainrule.training.optimizers.sgd import SGD


@part
class NTASGD(SGD):
    """w ← w − η (g + λ w);  after step T the model is  1/(k − T) Σ_{i=T+1…k} w_i.

    Merity, Keskar & Socher 2018, arXiv:1708.02182, algorithm 1. T is the evaluation t > n (`non_monotone`) whose
    validation loss is above the least of all but the n before it. The paper evaluates once an epoch:
    `training.evaluate_every`. λ is on matrices only. `training/averaging.py` averages, and evaluation uses the average.
    """

    def __init__(self, named: Named, *, rate: float = 30.0, weight_decay: float = 0.0, non_monotone: int = 5):
        if non_monotone < 1:
            raise OptionError("ntasgd.non_monotone", non_monotone, "at least 1 evaluation")
        super().__init__(named, rate=check_rate("ntasgd.rate", rate), weight_decay=weight_decay)
        self.non_monotone = non_monotone
