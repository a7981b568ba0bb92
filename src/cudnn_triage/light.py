"""Data classes and regular expressions for a program that starts on every error: made when first used, not when imported.

``dataclasses`` imports ``inspect`` and compiles several functions for each class, and compiling the patterns of all log formats
takes longer than reading a log: together most of what a start would cost. ``record`` is ``dataclass`` to whoever reads, type-checks
or introspects the code (``dataclasses.fields``, ``replace`` and ``asdict`` work); ``replaced`` is ``replace``, ``pattern`` is
``re.compile``.
"""

from __future__ import annotations

import re
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field
    from dataclasses import replace as replaced
    from re import compile as pattern
    from typing import Any, NoReturn
else:
    _NONE = object()

    class field:
        """A field's default, made anew for each object."""

        def __init__(self, *, default_factory: Any) -> None:
            self.make = default_factory

    class _Fields:
        """Stands for ``__dataclass_fields__`` until somebody asks for it."""

        def __get__(self, instance: object, cls: Any) -> dict[str, Any]:
            import dataclasses

            def known(name: str) -> Any:
                default = cls.__record_defaults__.get(name, _NONE)
                if default is _NONE:
                    return dataclasses.field()
                if isinstance(default, field):
                    return dataclasses.field(default_factory=default.make)
                return dataclasses.field(default=default)

            rows = [(name, kind, known(name)) for name, kind in cls.__annotations__.items()]
            cls.__dataclass_fields__ = dataclasses.make_dataclass(cls.__name__, rows).__dataclass_fields__
            return cls.__dataclass_fields__

    def record(cls: Any = None, /, *, frozen: bool = False, slots: bool = False) -> Any:
        """``dataclasses.dataclass``, for positional and keyword fields with or without defaults."""
        if cls is None:
            return lambda cls: record(cls, frozen=frozen, slots=slots)
        names = tuple(cls.__annotations__)
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        if slots:
            body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
            for name in defaults:
                del body[name]
            cls = type(cls)(cls.__name__, cls.__bases__, {**body, "__slots__": names})
        else:
            for name, value in defaults.items():
                if isinstance(value, field):
                    delattr(cls, name)
        cls.__record_defaults__ = defaults
        cls.__match_args__ = names
        cls.__dataclass_fields__ = _Fields()
        cls.__init__ = _first_init(cls, names, defaults, frozen)
        one = attrgetter(names[0]) if len(names) == 1 else None
        values = (lambda self: (one(self),)) if one else attrgetter(*names)

        def __eq__(self: Any, other: object) -> Any:
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        def __repr__(self: Any) -> str:
            shown = ", ".join(f"{name}={value!r}" for name, value in zip(names, values(self), strict=True))
            return f"{self.__class__.__qualname__}({shown})"

        def __reduce__(self: Any) -> tuple[Any, Any]:
            return self.__class__, values(self)

        cls.__eq__, cls.__repr__, cls.__reduce__ = __eq__, __repr__, __reduce__
        cls.__hash__ = (lambda self: hash(values(self))) if frozen else None
        if frozen:
            cls.__setattr__, cls.__delattr__ = _refuse, _refuse
        return cls

    def replaced(item: Any, /, **changes: Any) -> Any:
        """``dataclasses.replace``, for records whose fields are all given to their constructor."""
        return item.__class__(*(changes.get(name, getattr(item, name)) for name in item.__match_args__))

    def _first_init(cls: Any, names: tuple[str, ...], defaults: dict[str, Any], frozen: bool) -> Any:
        """A constructor that compiles the real one when the first object is made."""

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            known = {f"_{name}": value for name, value in defaults.items()}
            if not frozen:
                store = "self.{0} = {0}"
            elif "__slots__" in cls.__dict__:  # twice as fast as object.__setattr__
                store = "_set_{0}(self, {0})"
                known |= {f"_set_{name}": cls.__dict__[name].__set__ for name in names}
            else:
                store = "_set(self, {0!r}, {0})"
            parameters = [f"{name}=_{name}" if name in defaults else name for name in names]
            lines = [f"def __init__(self, {', '.join(parameters)}):"]
            for name in names:
                if isinstance(defaults.get(name), field):
                    lines.append(f" if {name} is _{name}: {name} = _{name}.make()")
                lines.append(" " + store.format(name))
            if hasattr(cls, "__post_init__"):
                lines.append(" self.__post_init__()")
            scope = {"_set": object.__setattr__, **known}
            exec("\n".join(lines), scope)
            cls.__init__ = scope["__init__"]
            cls.__init__(self, *args, **kwargs)

        return __init__

    def _refuse(self: object, name: str, value: object = None) -> NoReturn:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    class pattern:
        """A regular expression that is compiled when it is first used."""

        def __init__(self, text: str, flags: int = 0) -> None:
            self.pattern, self.flags = text, flags

        def __getattr__(self, name: str) -> Any:
            method = getattr(re.compile(self.pattern, self.flags), name)
            setattr(self, name, method)
            return method


# what stands for a letter beyond ASCII in another way than as itself once
_WIDE = pattern(r"[^\x00-\x7f][?*+{]|\\x\{(?!0*[0-9a-fA-F]{1,2}\})")


def linear_pattern(text: str, *, narrow: bool = False) -> Any:
    """A pattern of RE2, which never back-tracks. Raises re2.error, and says nothing on standard error, where it is none.

    ``narrow``: for bytes of ASCII only. RE2 then takes a byte for a character, and needs a fraction of the time to compile "any
    character, up to 120 times". A letter beyond ASCII is then several, none of which such bytes hold, so a pattern that makes one
    optional or repeats it, or names it by its number, stays as it is.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    if narrow and _WIDE.search(text) is None:
        options.encoding = re2.Options.Encoding.LATIN1
        return re2.compile(text.encode(), options)
    return re2.compile(text, options)


__all__ = ["field", "linear_pattern", "pattern", "record", "replaced"]
