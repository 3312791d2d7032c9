"""Training tests run on one thread, with models of a few hundred weights; what the same one needs is counted once."""

import pytest

from chainrule.training.torch_learner import TorchLearner

COUNTED = {}


@pytest.fixture(autouse=True, scope="module")
def on_one_thread(one_thread):
    """For all tests of this folder."""


@pytest.fixture(autouse=True, scope="module")
def counted_once():
    """Memory and FLOPs are counted on the meta device at the start of each training, which takes longer than a few
    steps; they are those of the shape, the rows and the plan alone."""
    def once(count):
        def asked(learner, *given):
            rows = learner.micro_batch_rows(*given) if given else None
            network, plan = learner.network, learner.plan
            key = repr((count.__name__, network.shape, network.vocabulary, rows, learner.data.context, plan.optimizer,
                        plan.precision, learner.device.type, learner.average is not None))
            if key not in COUNTED:
                COUNTED[key] = count(learner, *given)
            return COUNTED[key]
        return asked

    with pytest.MonkeyPatch.context() as patch:
        for name in ("memory", "flops_per_token"):
            patch.setattr(TorchLearner, name, once(getattr(TorchLearner, name)))
        yield
