"""A network on the handwritten digits, trained by optax; prints losses and accuracy."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import random
from sklearn.datasets import load_digits

digits = load_digits()
images = (digits.data / 16).astype(np.float32)
labels = digits.target
train, test = slice(0, 1437), slice(1437, None)


def init(key, sizes=(64, 128, 10)):
  keys = random.split(key, len(sizes) - 1)
  return [
      (random.normal(k, (m, n)) * np.sqrt(2 / m).astype(np.float32), jnp.zeros(n))
      for k, m, n in zip(keys, sizes, sizes[1:])]


def predict(params, x):
  for w, b in params[:-1]:
    x = jax.nn.relu(x @ w + b)
  w, b = params[-1]
  return x @ w + b


def loss(params, x, y):
  return optax.softmax_cross_entropy_with_integer_labels(predict(params, x), y).mean()


schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 20, 300)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))


@jax.jit
def step(params, state, x, y):
  value, gradient = jax.value_and_grad(loss)(params, x, y)
  updates, state = optimizer.update(gradient, state, params)
  return optax.apply_updates(params, updates), state, value


params = init(random.key(0))
state = optimizer.init(params)
losses = []
for i in range(300):
  rows = random.permutation(random.fold_in(random.key(1), i), 1437)[:128]
  params, state, value = step(params, state, images[train][rows], labels[train][rows])
  losses.append(float(value))
right = jnp.mean(jnp.argmax(predict(params, images[test]), 1) == labels[test])
print(json.dumps({"first": losses[:5], "last": losses[-1], "accuracy": float(right)}))
