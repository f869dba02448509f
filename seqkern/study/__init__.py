"""A study: its configuration as typed objects, its data sets, and the plan of its jobs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
