"""Finding wrong labels.

``lnp.audit`` is this package and, because it is the word for it, a function too: ``lnp.audit(model, graph, labels)``
is :func:`lnp.audit.table.audit`.
"""

from __future__ import annotations

import sys
import types
from typing import Any

__all__ = ["audit"]


class _Callable(types.ModuleType):
    """A package that can be called. A name of :mod:`lnp` cannot be a package now and a function after an import."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from lnp.audit.table import audit as run

        return run(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
audit = sys.modules[__name__]
audit.__module__ = __name__
