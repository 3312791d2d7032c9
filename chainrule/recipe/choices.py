"""The mark of an option that chooses a part: in a recipe's schema, and in the constructor of another part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chainrule.recipe import registry

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

Choice = str | Mapping[str, Any]  # a part's name, or a mapping with `name` and options


@dataclass(frozen=True)
class PartOf:
    """Marks an option that chooses a part: `Annotated[Choice, PartOf("counting/smoothing")]`.

    A recipe gives the part's name, or a mapping with `name` and options; it becomes a mapping with every option.
    """

    kind: str  # or several, as `parts/mixers|parts/attention`
    optional: bool = False  # None is a choice too

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.resolved)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"name": {"enum": registry.names(self.kind)}}, "required": ["name"]}

    def resolved(self, value: Any) -> dict[str, Any] | None:
        """The choice with every option, defaults filled in."""
        if value is None and self.optional:
            return None
        if not isinstance(value, str | Mapping):
            raise ValueError(f"expected the name of a {registry.called(self.kind)}, or a mapping with a name")
        return registry.resolve(self.kind, value)
