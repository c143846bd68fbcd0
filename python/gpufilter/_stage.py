"""One use of a stage."""

from collections.abc import Mapping

from ._options import Value, text_of, word


def _key(text: str) -> str | float:
    """What equal texts have in common: "2.0" is 2."""
    try:
        return float(text)
    except ValueError:
        return text


class Stage:
    """One use of a stage, as texts. The functions that are named like the stages make them."""

    __slots__ = ("name", "value", "parameters")

    def __init__(
        self, name: str, value: Value = "", parameters: Mapping[str, Value | None] = {}
    ) -> None:
        """Names have no dashes in front: Stage("blur", "auto", {"border": "mirror"}). None: not given."""
        self.name: str = word("name", name)
        self.value: str = text_of(value)
        self.parameters: dict[str, str] = {
            name: text_of(given) for name, given in parameters.items() if given is not None
        }

    def words(self) -> list[str]:
        """The words of the command line that mean the same."""
        words = ["--" + self.name]
        if self.value:
            words.append(self.value)
        for name, value in self.parameters.items():
            words += ["--" + name, value] if value else ["--" + name]
        return words

    def _keys(self) -> tuple[object, ...]:
        parameters = {name: _key(value) for name, value in self.parameters.items()}
        return self.name, _key(self.value), frozenset(parameters.items())

    def __repr__(self) -> str:
        arguments = [repr(self.value)] if self.value else []
        arguments += [
            f"{name.replace('-', '_')}={value or True!r}" for name, value in self.parameters.items()
        ]
        return f"gpufilter.{self.name.replace('-', '_')}({', '.join(arguments)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stage):
            return NotImplemented
        return self._keys() == other._keys()

    def __hash__(self) -> int:
        return hash(self._keys())
