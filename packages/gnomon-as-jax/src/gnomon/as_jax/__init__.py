"""After this is imported, `import jax` is gnomon.

>>> import gnomon.as_jax
>>> import jax
>>> jax.__version__
'0.10.2'

Every module `jax.X` is the module `gnomon.X` itself. The root `jax` is a module of its
own that answers with gnomon's names: only its version is that of the JAX whose interface
it has.

Raises:
  ImportError: the real `jax` is already loaded in this process.
"""

from __future__ import annotations

from gnomon.as_jax._alias import activate
from gnomon.as_jax._version import __version__ as JAX_VERSION

__all__ = ["JAX_VERSION"]

activate()
