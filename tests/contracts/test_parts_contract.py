"""Contract: every part of a kind that has a contract, present or future, found by its folder; none may be left out."""

import pytest

from chainrule.contracts import contract
from chainrule.recipe.registry import kinds, names

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
CASES = [(kind, name, check) for kind in contract.kinds() if kind not in ("families", "counting/smoothing")
         for name in names(kind) for check in contract.checks(kind)]


@pytest.mark.parametrize(("kind", "name", "check"), CASES,
                         ids=lambda value: value if isinstance(value, str) else value.__name__)
def test_a_part_keeps_its_contract(kind, name, check):
    check(kind, name)


def test_every_kind_of_part_of_a_network_has_a_contract():
    assert {kind for kind in kinds() if kind.startswith("parts/")} <= set(contract.kinds())
    assert len(names("parts/mixers")) >= 9 and len(names("parts/positions")) >= 7


def test_every_check_is_a_sentence():
    for kind in contract.kinds():
        for check in contract.checks(kind):
            assert contract.sentence(check)[0].isupper() and " " in contract.sentence(check), check
