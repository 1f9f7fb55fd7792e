"""Sources and sinks, one file each; parsing lives here.

`everview.connect` is this folder and, called, the function `everview.database.connect`: Python
puts a sub-package into its package under its name, whatever was there before, so the module itself
has to be callable.

Not here: routing (dataflow/pack), the façade (database).
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, config: Any = None, **settings: Any) -> Any:
        """A database on embedded Spark; see everview.database.connect."""
        # By name: the layers below do not import the façade, they only lend it theirs.
        return import_module("everview.database").connect(config, **settings)


sys.modules[__name__].__class__ = _Callable
