"""One use of a stage."""

from collections.abc import Mapping

from ._errors import UsageError
from ._options import Value, text_of, word


def _key(text: str) -> str | float:
    """What equal texts have in common: "2.0" is 2."""
    try:
        return float(text)
    except ValueError:
        return text


class Stage:
    """One use of a stage, as text. The functions that are named like the stages make them.

    A stage whose value names a file may have the file's bytes instead, in `file`. They are compared and pickled with
    it.
    """

    __slots__ = ("name", "value", "parameters", "file")

    def __init__(
        self, name: str, value: Value = "", parameters: Mapping[str, Value | None] = {}
    ) -> None:
        """Names have no dashes in front: Stage("blur", "auto", {"border": "mirror"}). None: not given."""
        self.name: str = word("name", name)
        self.file: bytes | None = value if isinstance(value, bytes) else None
        self.value: str = "" if self.file is not None else text_of(value)
        self.parameters: dict[str, str] = {
            name: text_of(given) for name, given in parameters.items() if given is not None
        }

    def words(self) -> list[str]:
        """The words of the command line that mean the same. Raises UsageError if a file is in memory."""
        if self.file is not None:
            raise UsageError(
                f"{self.name}: words cannot hold a file in memory; write it, and name it"
            )
        words = ["--" + self.name]
        if self.value:
            words.append(self.value)
        for name, value in self.parameters.items():
            words += ["--" + name, value] if value else ["--" + name]
        return words

    def _keys(self) -> tuple[object, ...]:
        parameters = {name: _key(value) for name, value in self.parameters.items()}
        return self.name, _key(self.value), self.file, frozenset(parameters.items())

    def __repr__(self) -> str:
        arguments = [repr(self.value)] if self.value else []
        if self.file is not None:
            arguments = [f"<{len(self.file)} bytes>"]
        arguments += [
            f"{name.replace('-', '_')}={value or True!r}" for name, value in self.parameters.items()
        ]
        return f"gpufilter.{self.name.replace('-', '_')}({', '.join(arguments)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stage):
            return NotImplemented
        return self._keys() == other._keys()

    def __reduce__(self) -> tuple[object, ...]:
        value = self.value if self.file is None else self.file
        return Stage, (self.name, value, self.parameters)

    def __hash__(self) -> int:
        return hash(self._keys())
