"""The old place of the parameters and their checks."""

from .core.checks import check_choice, check_flag, check_integer, check_name, check_real
from .core.parameters import Parameters

__all__ = ["Parameters", "check_choice", "check_flag", "check_integer", "check_name", "check_real"]
