"""What the environment of a cluster's job tells of its processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Place(NamedTuple):
  """The address of the first process, how many there are, and which this one is."""

  address: str
  total: int
  process: int


METHODS = ("slurm", "ompi", "deactivate")


def find(method: str | None, env: Mapping[str, str] = os.environ) -> Place | None:
  """The place of this process, if it is part of a job; None otherwise.

  Raises:
    ValueError: there is no such method.
  """
  if method is not None and method not in METHODS:
    raise ValueError(
        f"cluster_detection_method is {method!r}; known are {', '.join(METHODS)}")
  if method in (None, "slurm") and "SLURM_JOB_ID" in env and "SLURM_PROCID" in env:
    return _slurm(env)
  if method in (None, "ompi") and "OMPI_MCA_orte_hnp_uri" in env:
    return _open_mpi(env)
  return None


def _port(job: int) -> int:
  """A port of the range for private use that all processes of a job agree on."""
  return 61440 + job % 4096


def _slurm(env: Mapping[str, str]) -> Place:
  nodes = env["SLURM_STEP_NODELIST"]
  return Place(
      f"{_first_node(nodes)}:{_port(int(env['SLURM_JOB_ID']))}",
      int(env["SLURM_NTASKS"]), int(env["SLURM_PROCID"]))


def _first_node(nodes: str) -> str:
  """The first of `node1,node2`, or of `node[001-003,007]`."""
  end = next((i for i, c in enumerate(nodes) if c in ",["), None)
  if end is None or nodes[end] == ",":
    return nodes[:end]
  inside = nodes[end + 1:nodes.index("]", end)]
  return nodes[:end] + inside.split(",")[0].split("-")[0]


def _open_mpi(env: Mapping[str, str]) -> Place:
  # `1531576320.0;tcp://10.96.0.1,10.148.0.1:34911`
  job, addresses = env["OMPI_MCA_orte_hnp_uri"].split(";")[:2]
  host = addresses.split("//")[1].split(",")[0].split(":")[0]
  return Place(
      f"{host}:{_port(int(job.split('.')[0]) >> 12)}",
      int(env["OMPI_COMM_WORLD_SIZE"]), int(env["OMPI_COMM_WORLD_RANK"]))
