"""Whatever pydantic refuses is said in the words of all other option errors."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from chainrule.recipe.wording import expected_in_words, type_in_words

PYDANTIC = ("Input", "valid", "should", "equal to", "parse", "integer", "string", "greater")


class Section(BaseModel):
    size: int = 1


@pytest.mark.parametrize(("hint", "value", "words"), [
    (Annotated[int, Field(ge=1)], 0, "at least 1"), (Annotated[float, Field(gt=0)], -1.0, "above 0"),
    (Annotated[float, Field(le=0.5)], 1.0, "at most 0.5"), (Annotated[float, Field(lt=1)], 1.0, "less than 1"),
    (Annotated[int, Field(multiple_of=8)], 7, "a multiple of 8"),
    (Annotated[list[int], Field(min_length=2)], [1], "at least 2 of them"),
    (Annotated[list[int], Field(max_length=2)], [1, 2, 3], "at most 2 of them"),
    (Annotated[float, Field(allow_inf_nan=False)], float("nan"), "a finite number"),
    (int, "a", "a whole number"), (int, 1.5, "a whole number"), (float, "a", "a number"), (bool, 3, "true or false"),
    (str, 3, "text"), (list[int], 3, "a list"), (tuple[int, ...], 3, "a list"), (dict[str, int], 3, "a mapping"),
    (Section, 3, "a mapping"), (None, 3, "None"), (Literal["a", "b"], "c", "'a' or 'b'"),
])
@pytest.mark.parametrize("strict", [True, False])
def test_errors_of_pydantic_are_told_in_our_words(hint, value, words, strict):
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(hint).validate_python(value, strict=strict)
    found = expected_in_words(raised.value.errors()[0])
    assert found == words and not any(word in found for word in PYDANTIC)


@pytest.mark.parametrize(("hint", "words"), [
    (int | None, "a whole number or None"), (tuple[int, int], "a list of 2 whole numbers"),
    (tuple[int, ...], "a list of whole numbers"), (list[float], "a list of numbers"), (list, "a list"),
    (list[list[int]], "a list of values"), (dict[str, int], "a mapping"), (Literal["sum", 1], "one of 'sum', 1"),
])
def test_types_in_words(hint, words):
    assert type_in_words(hint) == words
