"""Compiled functions as bytes, to be run in another process without compiling."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from gnomon.api.stages import Call, Compiled
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, Var
from gnomon.lowering.module import Lowered
from gnomon.runtime import backends
from gnomon.runtime.compile import Executable, executable, physical
from gnomon.runtime.jaxlib import clients, programs

__all__ = ["deserialize_and_load", "serialize"]

_HEAD = b"gnomon executable 1\n"


def serialize(compiled: Compiled) -> tuple[bytes, Any, Any]:
  """A compiled function as bytes, with the structures of arguments and results.

  The bytes hold machine code for this kind of processor, and are read by this release of
  jaxlib only. The structures must be kept beside them.

  >>> import gnomon
  >>> from gnomon.experimental import serialize_executable
  >>> compiled = gnomon.jit(lambda x: x + x).lower(1.0).compile()
  >>> stored = serialize_executable.serialize(compiled)
  >>> serialize_executable.deserialize_and_load(*stored)(2.0)
  Array(4., dtype=float32, weak_type=True)

  Raises:
    ValueError: the program calls Python functions, closes over a reference, or is for
      several devices.
  """
  call = compiled._call
  exe = compiled._executable
  if not isinstance(exe, Executable):
    raise ValueError(  # noqa: TRY004 -- it is an executable, of another kind
        f"the function {call.info.name} was compiled for several devices; programs for "
        "one device can be stored")
  if call.outer:
    raise ValueError(
        f"can't serialize with a closed-over mutable reference: the function "
        f"{call.info.name} must take it as an argument")
  if exe.lowered.callbacks:
    raise ValueError(
        f"the function {call.info.name} calls Python functions, which cannot be stored "
        "with its program")
  loaded = exe.loaded if exe.anew is None else exe.anew()
  body = pickle.dumps({
      "name": call.info.name, "program": programs.serialize(loaded),
      "in_avals": call.flat_avals, "results": call.jaxpr.out_avals,
      "out_avals": exe.out_avals, "donated": tuple(call.donated), "kept": exe.kept,
      "written": exe.written, "static": bool(call.static[0] or call.static[2]),
      "consts": [np.asarray(physical(c)) for c in exe.lowered.const_args]})
  return _HEAD + hashlib.sha256(body).digest() + body, call.in_tree, call.out_tree


def deserialize_and_load(
    serialized: bytes, in_tree: Any, out_tree: Any, backend: Any = None,
    execution_devices: Sequence[Any] | None = None) -> Compiled:
  """The compiled function that `serialize` stored.

  Args:
    serialized: the bytes, from a trusted place: they can hold any code.
    in_tree: the structure of `(args, kwargs)`.
    out_tree: the structure of the results.
    backend: the platform, or its client.
    execution_devices: the device to run on, as a sequence of one; by default the first
      one. It must be the one that the program was compiled for.

  Raises:
    ValueError: the bytes are damaged or from elsewhere, or the devices do not fit.
  """
  digest, body = serialized[len(_HEAD):len(_HEAD) + 32], serialized[len(_HEAD) + 32:]
  if not serialized.startswith(_HEAD) or hashlib.sha256(body).digest() != digest:
    raise ValueError(
        "deserialize_and_load: these are no bytes of a compiled function, or they are "
        "damaged; make them with serialize")
  stored = pickle.loads(body)  # noqa: S301 -- the caller vouches for the bytes
  device = _device(backend, execution_devices)
  loaded = programs.load(
      device.client, stored["program"], clients.DeviceList((device,)),
      programs.compile_options([device]))
  lowered = Lowered(
      None, stored["consts"], stored["kept"], (), stored["out_avals"],
      stored["written"], [a for a, k in zip(stored["in_avals"], stored["kept"]) if k])
  # What calls look at of the program is its types.
  types = Jaxpr(
      [], list(map(Var, stored["in_avals"])), list(map(Var, stored["results"])), [])
  info = SimpleNamespace(name=stored["name"], fun=None, device=None, options={})
  static = ((), (), ((None, None),) if stored["static"] else ())
  call = Call(
      info, ClosedJaxpr(types, []), in_tree, out_tree, stored["donated"], static, [])
  return Compiled(call, executable(loaded, lowered, device))


def _device(backend: Any, execution_devices: Sequence[Any] | None) -> Any:
  client = backends.client_of(backend) if isinstance(backend, str) else backend
  if execution_devices is None:
    return (client or backends.client()).local_devices()[0]
  if len(execution_devices) != 1:
    raise ValueError(
        "deserialize_and_load: execution_devices must be one device, since the program "
        f"is for one; got {len(execution_devices)}")
  (device,) = execution_devices
  if client is not None and device.client is not client:
    raise ValueError(
        "Execution devices belong to a client other than `backend`: "
        f"{device} is not one of {client.platform}")
  return device
