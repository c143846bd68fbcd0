"""One use of a stage."""

from collections.abc import Mapping
from os import PathLike, fspath

Value = str | float | PathLike[str]


def _text_of(value: Value) -> str:
    """The value as the command line takes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, (int, float)) else fspath(value)


class Stage:
    """One use of a stage, as texts. The functions that are named like the stages make them."""

    __slots__ = ("name", "value", "parameters")

    def __init__(
        self, name: str, value: Value = "", parameters: Mapping[str, Value | None] = {}
    ) -> None:
        """Names have no dashes in front: Stage("blur", "auto", {"border": "mirror"}). None: not given."""
        self.name: str = name
        self.value: str = _text_of(value)
        self.parameters: dict[str, str] = {
            name: _text_of(given) for name, given in parameters.items() if given is not None
        }

    def words(self) -> list[str]:
        """The words of the command line that mean the same."""
        words = ["--" + self.name]
        if self.value:
            words.append(self.value)
        for name, value in self.parameters.items():
            words += ["--" + name, value] if value else ["--" + name]
        return words

    def __repr__(self) -> str:
        arguments = [repr(self.value)] if self.value else []
        arguments += [
            f"{name.replace('-', '_')}={value or True!r}"
            for name, value in self.parameters.items()
        ]
        return f"gpufilter.{self.name.replace('-', '_')}({', '.join(arguments)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stage):
            return NotImplemented
        return (self.name, self.value, self.parameters) == (
            other.name,
            other.value,
            other.parameters,
        )

    def __hash__(self) -> int:
        return hash((self.name, self.value, frozenset(self.parameters.items())))
