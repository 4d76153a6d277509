"""Annotated functions, whose shapes are checked as they run; prints a solved system."""

# ruff: noqa: F722, F821 -- the annotations are jaxtyping's

import json

import jax
import jax.numpy as jnp
from beartype import beartype
from jax import random
from jaxtyping import Array, Float, PyTree, TypeCheckError, jaxtyped


@jaxtyped(typechecker=beartype)
def gram(a: Float[Array, "rows columns"]) -> Float[Array, "columns columns"]:
  return a.T @ a


@jaxtyped(typechecker=beartype)
def step(
    a: Float[Array, "rows n"], b: Float[Array, " rows"], x: Float[Array, " n"]
) -> Float[Array, " n"]:
  return x - jnp.linalg.solve(gram(a), a.T @ (a @ x - b) + x ** 3)


@jaxtyped(typechecker=beartype)
def total(tree: PyTree[Float[Array, "..."], "T"]) -> Float[Array, ""]:
  return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree))


a = random.normal(random.key(0), (20, 4))
b = random.normal(random.key(1), (20,))
x = jnp.zeros(4)
solutions = []
for _ in range(40):
  x = jax.jit(step)(a, b, x)
  solutions.append(x)
batch = jax.vmap(step, (None, 0, None))(a, jnp.stack([b, 2 * b]), x)
refused = 0
for arguments in [(a, b[:-1], x), (a, b, x[:-1]), (a, b, x.astype(int))]:
  try:
    jax.jit(step)(*arguments)
  except TypeCheckError:
    refused += 1
print(json.dumps({
    "first": solutions[0].tolist(), "last": solutions[-1].tolist(),
    "batch": batch.tolist(), "total": float(total({"a": a, "x": [x]})),
    "refused": refused}))
