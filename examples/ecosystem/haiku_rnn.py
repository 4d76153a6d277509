"""A haiku LSTM unrolled over time; prints losses."""

import json

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
from jax import random

t = np.linspace(0, 6, 40, dtype=np.float32)
waves = np.sin(t[:, None, None] * np.arange(1, 5, dtype=np.float32)[None, :, None])


def network(x):
  core = hk.LSTM(16)
  out, state = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
  return hk.BatchApply(hk.Linear(1))(out), state


model = hk.without_apply_rng(hk.transform(network))
params = model.init(random.PRNGKey(0), waves)


def loss(params):
  out, _ = model.apply(params, waves[:-1])
  return jnp.mean((out - waves[1:]) ** 2)


@jax.jit
def step(params):
  value, gradient = jax.value_and_grad(loss)(params)
  return jax.tree.map(lambda p, g: p - 0.3 * g, params, gradient), value


losses = []
for _ in range(60):
  params, value = step(params)
  losses.append(float(value))
print(json.dumps({"first": losses[:3], "last": losses[-1]}))
