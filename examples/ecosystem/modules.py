"""Imports every public module of libraries under `gnomon.as_jax`.

`python modules.py LIBRARY...`; a module is public if no part of its name begins with an
underscore. Tests that lie among the modules are left out, and so are modules that need a
package that is not installed here; those are named.
"""

import importlib
import pkgutil
import sys


def fault(name):
  """Imports a module; what is wrong with it, or None."""
  try:
    importlib.import_module(name)
  except ImportError as e:
    return e
  return None


def faults(name):
  """Of a module and all public ones below it, the name and what is wrong with it."""
  wrong = fault(name)
  yield name, wrong
  module = sys.modules.get(name)
  if wrong is None and hasattr(module, "__path__"):
    for found in pkgutil.iter_modules(module.__path__):
      if not found.name.startswith("_") and not found.name.endswith("_test"):
        yield from faults(f"{name}.{found.name}")


def main(libraries):
  """Imports them; the status says whether all could be."""
  bad = 0
  for library in libraries:
    found = dict(faults(library))
    for name, wrong in found.items():
      if wrong is None:
        continue
      missing = (getattr(wrong, "name", None) or "jax").partition(".")[0]
      own = not isinstance(wrong, ModuleNotFoundError) or missing in (
          "jax", "gnomon", "jaxlib", library)
      bad += own
      print(f"{name}: {wrong}" if own else f"{name} needs {missing}: left out")
    print(f"{library}: {len(found)} modules")
  return min(bad, 1)


if __name__ == "__main__":
  import gnomon.as_jax as _  # noqa: F401 -- from here on, jax is gnomon

  sys.exit(main(sys.argv[1:]))
