"""A flax linen transformer with scanned, rematerialised layers; prints losses."""

import json

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state
from jax import random

tokens = np.random.RandomState(0).randint(0, 12, (8, 10))


class Block(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic):
    h = nn.LayerNorm()(x)
    h = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=16)(
        h, h, mask=nn.make_causal_mask(jnp.ones(x.shape[:2])),
        deterministic=deterministic)
    x = x + nn.Dropout(0.1)(h, deterministic=deterministic)
    h = nn.Dense(32)(nn.LayerNorm()(x))
    return x + nn.Dense(16)(nn.gelu(h)), None


class Model(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic=True):
    x = nn.Embed(12, 16)(x)
    layers = nn.scan(
        nn.remat(Block, static_argnums=(2,)), variable_axes={"params": 0},
        split_rngs={"params": True, "dropout": True}, in_axes=nn.broadcast, length=3)
    x, _ = layers()(x, deterministic)
    return nn.Dense(12)(nn.LayerNorm()(x))


model = Model()
state = train_state.TrainState.create(
    apply_fn=model.apply, params=model.init(random.key(0), tokens)["params"],
    tx=optax.adam(1e-2))


@jax.jit
def step(state, key):
  def loss(params):
    logits = state.apply_fn(
        {"params": params}, tokens[:, :-1], deterministic=False, rngs={"dropout": key})
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()
  value, gradient = jax.value_and_grad(loss)(state.params)
  return state.apply_gradients(grads=gradient), value


losses = []
for i in range(40):
  state, value = step(state, random.key(i))
  losses.append(float(value))
print(json.dumps({"first": losses[:3], "last": losses[-1]}))
