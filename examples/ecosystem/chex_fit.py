"""A state of chex's dataclasses, checked by its assertions, fitted; prints the losses."""

import functools
import json

import chex
import jax
import jax.numpy as jnp
from jax import random


@chex.dataclass(frozen=True)
class Params:
  weight: chex.Array
  bias: chex.Array


@chex.dataclass(frozen=True)
class State:
  params: Params
  momentum: Params
  step: chex.Numeric


def predict(params, x):
  chex.assert_rank([x, params.weight, params.bias], [2, 2, 1])
  y = jnp.tanh(x @ params.weight + params.bias)
  chex.assert_shape(y, (x.shape[0], params.bias.shape[0]))
  return y


def loss(params, x, y):
  return jnp.mean(jnp.sum((predict(params, x) - y) ** 2, 1))


@chex.chexify  # the assertions on values run in the compiled program
@functools.partial(jax.jit, donate_argnums=())
@chex.assert_max_traces(n=2)  # chexify traces once more than the caller
def update(state, x, y):
  value, gradient = jax.value_and_grad(loss)(state.params, x, y)
  chex.assert_trees_all_equal_shapes_and_dtypes(gradient, state.params)
  chex.assert_tree_all_finite(gradient)
  momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state.momentum, gradient)
  params = jax.tree.map(lambda p, m: p - 0.05 * m, state.params, momentum)
  return State(params=params, momentum=momentum, step=state.step + 1), value


keys = random.split(random.key(0), 4)
x = random.normal(keys[0], (64, 5))
true = Params(weight=random.normal(keys[1], (5, 3)), bias=random.normal(keys[2], (3,)))
y = predict(true, x)
start = Params(weight=0.1 * random.normal(keys[3], (5, 3)), bias=jnp.zeros(3))
state = State(params=start, momentum=jax.tree.map(jnp.zeros_like, start), step=0)
losses = []
for _ in range(400):
  state, value = update(state, x, y)
  losses.append(float(value))
update.wait_checks()
chex.assert_trees_all_close(state.params, true, atol=0.2)

failures = 0
try:  # what is not finite is found, although it is in a compiled program
  update(state.replace(params=jax.tree.map(lambda p: p * jnp.nan, start)), x, y)
  update.wait_checks()
except AssertionError:
  failures += 1
print(json.dumps({"first": losses[:5], "last": losses[-1], "failures": failures}))
