"""A verb of another distribution, with the options of the tutorial in CONTRIBUTING.md."""

from seqkern.cli.options import Request, all_of, argument, only_with, option
from seqkern.core.parameters import flag, integer


class GreetRequest(Request):
    """Who is greeted, and how."""

    EXAMPLE = "seqkern greet you --again --times 3"

    name: str = argument("who is greeted")
    again: bool = option("greet more than once", flag(default=False))
    times: int = option("number of greetings (default: 2)", integer(default=2, low=2), metavar="N")
    rules = all_of(only_with("again", "times"))


def run(request):
    """Greet on standard output."""
    print(*["hello"] * (request.times if request.again else 1), request.name)
