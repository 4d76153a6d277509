"""An equinox MLP with a stateful layer; prints losses and a norm of its running mean."""

import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import random

x = np.random.RandomState(0).randn(64, 8).astype(np.float32)
y = (np.sin(x[:, :1]) + x[:, 1:2] ** 2).astype(np.float32)


class Model(eqx.Module):
  first: eqx.nn.Linear
  norm: eqx.nn.BatchNorm
  rest: eqx.nn.MLP

  def __init__(self, key):
    a, b = random.split(key)
    self.first = eqx.nn.Linear(8, 32, key=a)
    self.norm = eqx.nn.BatchNorm(32, axis_name="batch", mode="batch")
    self.rest = eqx.nn.MLP(32, 1, 32, 2, activation=jax.nn.gelu, key=b)

  def __call__(self, x, state):
    x, state = self.norm(self.first(x), state)
    return self.rest(jnp.tanh(x)), state


model, state = eqx.nn.make_with_state(Model)(random.key(0))


@eqx.filter_jit
@eqx.filter_value_and_grad(has_aux=True)
def loss(model, state, x, y):
  each = eqx.filter_vmap(
      model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
  out, state = each(x, state)
  return jnp.mean((out - y) ** 2), state


losses = []
for _ in range(50):
  (value, state), gradient = loss(model, state, x, y)
  model = eqx.apply_updates(
      model, jax.tree.map(lambda g: None if g is None else -0.05 * g, gradient))
  losses.append(float(value))
still = eqx.nn.inference_mode(model)
out, _ = jax.vmap(still, in_axes=(0, None))(x, state)
hessian = eqx.filter_hessian(lambda v: jnp.sum(still(v, state)[0]))(x[0])
print(json.dumps({
    "first": losses[:3], "last": losses[-1], "mean": float(out.mean()),
    "hessian": float(jnp.abs(hessian).sum())}))
