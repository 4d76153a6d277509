"""A transformer block and its training, as a program that also runs under JAX."""

from __future__ import annotations

from typing import Any

import gnomon
import gnomon.numpy as gnp
from gnomon import nn, random

WORDS, WIDTH, HEADS, LENGTH, BATCH, STEPS = 11, 8, 2, 6, 4, 20
SEED, RATE, DROPPED = 17, 0.1, 0.2


def parameters(key: Any) -> dict[str, Any]:
  """Weights, from the initializers that such blocks are given."""
  keys = random.split(key, 7)
  init = nn.initializers
  return {
    "embed": init.normal(1.0)(keys[0], (WORDS, WIDTH)),
    "place": init.truncated_normal(0.2)(keys[1], (LENGTH, WIDTH)),
    "qkv": init.glorot_uniform(in_axis=0, out_axis=(1, 2, 3))(
      keys[2], (WIDTH, 3, HEADS, WIDTH // HEADS)),
    "out": init.orthogonal()(keys[3], (WIDTH, WIDTH)),
    "gate": init.he_normal()(keys[4], (WIDTH, 4 * WIDTH)),
    "down": init.lecun_normal()(keys[5], (4 * WIDTH, WIDTH)),
    "head": init.xavier_normal()(keys[6], (WIDTH, WORDS)),
    "scale": init.ones(None, (3, WIDTH)),
  }


def dropout(key: Any, x: Any) -> Any:
  """Sets some elements to 0, and enlarges the others in proportion."""
  kept = random.bernoulli(key, 1 - DROPPED, x.shape)
  return gnp.where(kept, x / (1 - DROPPED), 0)


def logits(p: dict[str, Any], key: Any, words: Any) -> Any:
  """The logarithms of the odds of each next word."""
  first, second = random.split(key)
  x = p["embed"][words] + p["place"]
  y = gnp.einsum("btd,dcnh->cbtnh", nn.standardize(x) * p["scale"][0], p["qkv"])
  y = nn.dot_product_attention(y[0], y[1], y[2], is_causal=True)
  x = x + dropout(first, y.reshape(x.shape) @ p["out"])
  y = nn.gelu((nn.standardize(x) * p["scale"][1]) @ p["gate"]) @ p["down"]
  x = x + dropout(second, y)
  return (nn.standardize(x) * p["scale"][2]) @ p["head"]


def loss(p: dict[str, Any], key: Any, words: Any) -> Any:
  """Mean cross entropy of the next word."""
  odds = nn.log_softmax(logits(p, key, words[:, :-1]))
  return -gnp.mean(gnp.sum(odds * nn.one_hot(words[:, 1:], WORDS), axis=-1))


def step(p: dict[str, Any], key: Any) -> Any:
  """One step of training, on words that follow each other by a rule."""
  first, second = random.split(key)
  start = random.randint(first, (BATCH, 1), 0, WORDS)
  words = (start + 3 * gnp.arange(LENGTH + 1)) % WORDS
  value, slopes = gnomon.value_and_grad(loss)(p, second, words)
  moved = gnomon.tree_util.tree_map(lambda w, g: w - RATE * g, p, slopes)
  return moved, value, slopes


def train() -> tuple[list[float], dict[str, Any], dict[str, Any]]:
  """The losses of all steps, the gradient of the last, and the weights after it."""
  first, *keys = random.split(random.key(SEED), STEPS + 1)
  p, values, slopes = parameters(first), [], {}
  one = gnomon.jit(step)
  for key in keys:
    p, value, slopes = one(p, key)
    values.append(float(value))
  return values, slopes, p
