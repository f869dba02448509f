"""``seqkern kernels``: list the kernels and Gram transforms with their parameters, or one of them in full."""

import inspect
import textwrap

EXAMPLE = "seqkern kernels spectrum"

WIDTH = 100


def add_arguments(parser):
    """Add the verb's arguments."""
    parser.add_argument("name", nargs="?", help="show this kernel or transform in full (default: list all)")


def run(args):
    """Print the list, or one kernel in full."""
    from ..kernels import KERNELS
    from ..transforms import TRANSFORMS

    if args.name in TRANSFORMS.classes:
        print(in_full(TRANSFORMS.get(args.name)))
    elif args.name:
        cls = KERNELS.get(args.name)
        print(f"{in_full(cls)}\n\n{traits(cls)}")
    else:
        print(
            "Kernels. In a config {kernel: spectrum, k: 3}, on the command line spectrum:k=3; sums with +.\n"
        )
        for cls in KERNELS.classes.values():
            print(entry(cls, traits(cls)))
        print(
            "Gram transforms, fitted on the training part: transforms: [centre] in a kernel's config entry.\n"
        )
        for cls in TRANSFORMS.classes.values():
            print(entry(cls))


def entry(cls, *lines):
    """Return a class in brief: name, first sentence of its docstring, `lines`, parameters with defaults."""
    parameters = [_parameter(parameter) for parameter in inspect.signature(cls).parameters.values()]
    about = [summary(cls), *lines, "parameters: " + (", ".join(parameters) or "none")]
    return "\n".join([cls.name, *(_indent(text) for text in about), ""])


def in_full(cls):
    """Return the docstring of a class under its name."""
    return f"{cls.name} ({cls.__name__})\n\n{inspect.getdoc(cls)}"


def summary(cls):
    """Return the first line of a class's docstring."""
    return inspect.getdoc(cls).splitlines()[0]


def traits(cls):
    """Return as one line: what a kernel takes, whether it is positive semi-definite, whether it learns."""
    takes = _of_class(cls, "accepts") or "what the kernels inside it take"
    definite = {
        True: "positive semi-definite",
        False: "not positive semi-definite",
        None: "positive semi-definite if the kernels inside it are",
    }
    learns = {
        True: ["learns from the training part"],
        False: [],
        None: ["learns from the training part if a kernel inside it, or a parameter, does"],
    }
    words = [definite[_of_class(cls, "positive_semidefinite")], *learns[_of_class(cls, "data_dependent")]]
    return "; ".join([f"takes {takes}", *words])


def _of_class(cls, name):
    """Return a class attribute, or None where it is a property: known of an instance only."""
    value = inspect.getattr_static(cls, name)
    return None if isinstance(value, property) else value


def _parameter(parameter):
    """Return a parameter as ``name=default``, or ``name`` where it must be given."""
    required = parameter.default is inspect.Parameter.empty
    return parameter.name if required else f"{parameter.name}={_text(parameter.default)}"


def _text(value):
    """Return a value as configs write it."""
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def _indent(text):
    """Return `text` wrapped, as a paragraph of an entry."""
    return textwrap.fill(
        text, WIDTH, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False
    )
