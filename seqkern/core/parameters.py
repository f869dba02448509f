"""Classes with parameters declared once, as attributes, and everything derived from the declarations.

The declarations give the constructor, with a real signature; the section Parameters of the docstring; the checks; and
the parsing of values from text and from a configuration (specs.py). For example::

    class MismatchKernel(HammingKernel):
        k: int | list[int] = integer(default=5, low=1, summed=True, kw_only=False, doc="Length of the k-mers.")
        m: int = integer(default=1, low=0, kw_only=False, doc="Mismatches allowed, fewer than k.")

Parameters are inherited; `changed` alters one, `fixed` removes one. Type checkers know the constructor by PEP 681, so
`default` and `kw_only` are written out where they matter. Constructors do not check values: code that uses an object
first calls `check_parameters`.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from seqkern.core.declarations import (
    REQUIRED,
    AlphabetName,
    Changed,
    Choice,
    Component,
    Fixed,
    Flag,
    Integer,
    Labels,
    Numbers,
    NumbersByName,
    Parameter,
    Real,
    Text,
)
from seqkern.core.errors import check_known

# Functions that declare the parameters of a class: each returns a `Parameter`, which type checkers treat as a value.
# `traits` are the attributes of the returned class, such as `low`, `words` and `doc`.


def integer(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare an integer."""
    return Integer(default=default, kw_only=kw_only, **traits)


def real(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a number, finite unless `infinite`."""
    return Real(default=default, kw_only=kw_only, **traits)


def choice(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a choice of one of some words (default: the words of the annotation, a Literal)."""
    return Choice(default=default, kw_only=kw_only, **traits)


def flag(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a boolean."""
    return Flag(default=default, kw_only=kw_only, **traits)


def text(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare text, or the path of a file."""
    return Text(default=default, kw_only=kw_only, **traits)


def alphabet_name(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare an alphabet, by name or by its letters."""
    return AlphabetName(default=default, kw_only=kw_only, **traits)


def numbers(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a list of numbers; `length` is the attribute of the object with the required number of values."""
    return Numbers(default=default, kw_only=kw_only, **traits)


def numbers_by_name(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a number for each of some names."""
    return NumbersByName(default=default, kw_only=kw_only, **traits)


def labels(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a list of classes."""
    return Labels(default=default, kw_only=kw_only, **traits)


def anything(*, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a parameter that only the class itself can check; text is parsed by its form."""
    return Parameter(default=default, kw_only=kw_only, **traits)


def component(kind: str, *, default: Any = REQUIRED, kw_only: bool = True, **traits: Any) -> Any:
    """Declare a nested object of some kind; with `expand`, all objects of a grid."""
    return Component(kind=kind, default=default, kw_only=kw_only, **traits)


def positive(default: Any, doc: str, **traits: Any) -> Any:
    """Declare a number above 0, such as a convergence tolerance, whose units `doc` names."""
    return real(default=default, low=0, open_low=True, doc=doc, **traits)


def not_negative(default: Any, doc: str, **traits: Any) -> Any:
    """Declare a number of at least 0."""
    return real(default=default, low=0, doc=doc, **traits)


def share(default: Any, doc: str, **traits: Any) -> Any:
    """Declare a number from 0 to 1, without an end that is open."""
    return real(default=default, low=0, high=1, doc=doc, **traits)


def count(default: Any, doc: str, **traits: Any) -> Any:
    """Declare a count of at least 1, such as a maximum number of iterations."""
    return integer(default=default, low=1, doc=doc, **traits)


def changed(*, default: Any, **changes: Any) -> Any:
    """Redeclare an inherited parameter with another default or other changes."""
    return Changed(default=default, changes={"default": default, **changes})


def fixed(value: Any, *, init: Literal[False] = False) -> Any:
    """Remove an inherited parameter: the constructor does not accept it."""
    return Fixed(default=value)


# Class docstrings with a section Parameters, generated from the declarations.

WIDTH = 116
_SECTION = re.compile(r"^(?:Attributes|Raises|Warns|See Also|Notes|References|Examples)\n-+$", re.MULTILINE)
_WRITTEN = re.compile(r"^Parameters\n-+$", re.MULTILINE)


class Documentation:
    """A class docstring completed on access: all classes are created at import, but few docstrings are read."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: Any, owner: Any = None) -> str:
        text = inspect.cleandoc(self.text)
        if not owner.declarations() or _WRITTEN.search(text):
            return text
        section = parameters_section(owner.declarations())
        following = _SECTION.search(text)
        if following is None:
            return f"{text}\n\n{section}\n"
        return f"{text[: following.start()]}{section}\n\n{text[following.start() :]}\n"


def parameters_section(declared: dict[str, Parameter]) -> str:
    """Return the section Parameters of a docstring in numpydoc format."""
    lines = ["Parameters", "----------"]
    for name, item in declared.items():
        lines.append(f"{name} : {item.type_text()}{_default_text(item.default)}")
        if item.doc:
            lines.append(textwrap.indent(textwrap.fill(item.doc, WIDTH, break_on_hyphens=False), "    "))
    return "\n".join(lines)


def _default_text(default: Any) -> str:
    """Return the text of the default, to follow the type."""
    if default is REQUIRED:
        return ""
    if default is None:
        return ", optional"
    if type(default) is int:
        return f", default {default:_}"
    return f', default "{default}"' if isinstance(default, str) else f", default {default}"


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(
        integer,
        real,
        choice,
        flag,
        text,
        alphabet_name,
        numbers,
        numbers_by_name,
        labels,
        component,
        anything,
        changed,
        fixed,
    ),
)
class Parameters:
    """The base class of all classes with declared parameters, compatible with scikit-learn's `clone` and grid searches.

    A class may write its own ``__init__``, which then has to store each argument, unchanged, under its own name.
    """

    # The parameters at the end of the signature, in this order. The others are in the order of declaration, inherited
    # ones first, positional ones before keyword-only ones
    last_parameters: ClassVar[tuple[str, ...]] = ()
    _own_parameters: ClassVar[dict[str, Parameter]] = {}
    _parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Create the constructor and the docstring of a class from its declared and inherited parameters."""
        super().__init_subclass__(**kwargs)
        annotations = inspect.get_annotations(cls)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        cls._own_parameters = {name: item.declared(annotations.get(name, Any)) for name, item in own.items()}
        for name, item in own.items():
            if item.default is REQUIRED:
                delattr(cls, name)
            else:
                setattr(cls, name, item.default)
        cls._parameters = _collected(cls)
        if _writes_constructor(cls):
            known = inspect.signature(cls).parameters
            cls._parameters = {name: cls._parameters.get(name, Parameter()) for name in known}
        else:
            cls.__init__ = _constructor(cls._parameters)  # type: ignore[method-assign]
        if cls.__doc__ is not None:
            cls.__doc__ = Documentation(cls.__dict__["__doc__"])  # type: ignore[assignment]

    @classmethod
    def declarations(cls) -> dict[str, Parameter]:
        """Return the parameters by name, in the order of the constructor."""
        return cls._parameters

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Return the names of the constructor's parameters, in order."""
        return list(cls._parameters)

    @classmethod
    def parameters_with(cls, trait: str) -> tuple[str, ...]:
        """Return the names of the parameters for which `trait`, a boolean attribute of the declarations, is true."""
        return tuple(name for name, item in cls._parameters.items() if getattr(item, trait))

    def check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its domain."""
        for name, item in self._parameters.items():
            item.check(name, getattr(self, name), self)
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Raise ParameterError for violated conditions on several parameters, or conditions that no declaration
        covers.
        """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; if `deep`, also nested objects' parameters, as ``outer__inner``."""
        params = {name: getattr(self, name) for name in self._parameters}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameters):
                    params.update({f"{name}__{key}": item for key, item in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name (``outer__inner`` for nested objects), and return this object."""
        for key, value in params.items():
            name, _, inner = key.partition("__")
            check_known(f"parameter of {type(self).__name__}", [name], self._parameters)
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if defaults[name].default is REQUIRED or value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _collected(cls: type[Parameters]) -> dict[str, Parameter]:
    """Return all parameters of a class, including inherited ones, in the order of the constructor."""
    found: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        for name, item in vars(base).get("_own_parameters", {}).items():
            if isinstance(item, Changed):
                found[name] = item.of(_declared_before(cls, base, name)).declared(item.annotation)
            else:
                found[name] = item
    found = {name: item for name, item in found.items() if not isinstance(item, Fixed)}
    last = cls.last_parameters
    place = {name: (found[name].kw_only, name in last and last.index(name) + 1) for name in found}
    return dict(sorted(found.items(), key=lambda entry: place[entry[0]]))


def _declared_before(cls: type[Parameters], base: type, name: str) -> Parameter:
    """Return the declaration that a class inherits under a name, after `base` in the inheritance order."""
    mro = cls.__mro__
    for other in mro[mro.index(base) + 1 :]:
        item = vars(other).get("_own_parameters", {}).get(name)
        if item is not None and not isinstance(item, Fixed):
            return item.of(_declared_before(cls, other, name)) if isinstance(item, Changed) else item
    raise TypeError(f"{base.__name__} changes {name}, which it does not inherit")


def _writes_constructor(cls: type) -> bool:
    """Return whether a class has a handwritten constructor, its own or inherited unchanged."""
    constructor = inspect.getattr_static(cls, "__init__")
    by_hand = not hasattr(constructor, "declared") and constructor is not object.__init__
    return by_hand and ("__init__" in vars(cls) or not vars(cls)["_own_parameters"])


def _constructor(declared: dict[str, Parameter]) -> Callable[..., None]:
    """Return an ``__init__`` that stores its arguments, with the signature of the declarations."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    arguments = [inspect.Parameter("self", kinds[0])]
    arguments += [
        inspect.Parameter(name, kinds[item.kw_only], default=item.default, annotation=item.annotation)
        for name, item in declared.items()
    ]
    signature = inspect.Signature(arguments)

    positional = [name for name, item in declared.items() if not item.kw_only]
    required = {name for name, item in declared.items() if item.required}

    def store(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(positional, args, strict=False)) | kwargs
        complete = len(given) == len(args) + len(kwargs) and required <= given.keys() <= declared.keys()
        if not complete:
            try:
                signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        for name, item in declared.items():
            setattr(self, name, given.get(name, item.default))

    store.__name__ = "__init__"
    store.__doc__ = "Store the parameters."
    store.__signature__ = signature  # type: ignore[attr-defined]
    store.declared = True  # type: ignore[attr-defined]
    return store
