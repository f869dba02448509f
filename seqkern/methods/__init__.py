"""The one way to train and predict: `Method.fit`, models and their files, scans, explanations."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
