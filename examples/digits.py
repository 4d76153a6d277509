"""Reads handwritten digits: a small network, trained with gnomon on real images."""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gnomon
import gnomon.numpy as gnp
from gnomon import lax, random

WIDTHS = (64, 256, 128, 10)  # pixels, two hidden layers, digits
WARM_UP = 0.05  # the part of the run in which the learning rate rises
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-3
NOISE = 0.25  # standard deviation of what is added to a pixel (0 to 1) in training
HELD_OUT = 0.2


class Dense(NamedTuple):
  """A layer: `weights` of shape (in, out) and `bias` of shape (out,)."""

  weights: gnomon.Array
  bias: gnomon.Array


Params = tuple[Dense, ...]


class State(NamedTuple):
  """What training carries from one step to the next."""

  params: Params
  velocity: Params
  step: gnomon.Array


class Split(NamedTuple):
  """Images (n, 64) with pixels from 0 to 1, and the digit (n,) that each shows."""

  images: gnomon.Array
  labels: gnomon.Array


class Run(NamedTuple):
  """A trained network and the loss of every step on the way there."""

  params: Params
  losses: np.ndarray


Chunk = tuple[gnomon.Array, gnomon.Array]  # the batches of an epoch, and its key
Track = Callable[[Iterator[Chunk], int], Iterable[Chunk]]


# --- the network -----------------------------------------------------------------------


def init(key: gnomon.Array) -> Params:
  """Random weights, scaled so that every layer keeps the size of what passes it."""
  keys = random.split(key, len(WIDTHS) - 1)
  shapes = itertools.pairwise(WIDTHS)
  return tuple(
    Dense(random.normal(k, (m, n), gnp.float32) * math.sqrt(2 / m), gnp.zeros(n))
    for k, (m, n) in zip(keys, shapes, strict=True)
  )


def scores(params: Params, images: gnomon.Array) -> gnomon.Array:
  """A score for each of the ten digits: (..., 64) to (..., 10)."""
  *hidden, last = params
  for layer in hidden:
    images = gnp.maximum(images @ layer.weights + layer.bias, 0)
  return images @ last.weights + last.bias


def surprise(params: Params, image: gnomon.Array, label: gnomon.Array) -> gnomon.Array:
  """Minus the log of the probability that one image's true digit was given."""
  z = scores(params, image)
  top = gnp.max(z)
  return top + gnp.log(gnp.sum(gnp.exp(z - top))) - z[label]


def loss(params: Params, images: gnomon.Array, labels: gnomon.Array) -> gnomon.Array:
  """The mean surprise over a batch."""
  return gnp.mean(gnomon.vmap(surprise, in_axes=(None, 0, 0))(params, images, labels))


@gnomon.jit
def gradient_norms(params: Params, split: Split) -> gnomon.Array:
  """How hard each image pulls at the network: the norm of its own gradient, (n,)."""

  def norm(image: gnomon.Array, label: gnomon.Array) -> gnomon.Array:
    gradient = gnomon.grad(surprise)(params, image, label)
    return gnp.sqrt(sum(gnp.sum(g**2) for g in gnomon.tree.leaves(gradient)))

  return gnomon.vmap(norm)(split.images, split.labels)


@gnomon.jit
def read(params: Params, images: gnomon.Array) -> gnomon.Array:
  """The digit that the network sees in each image."""
  return gnp.argmax(scores(params, images), axis=-1)


# --- training --------------------------------------------------------------------------


def learning_rate(
  step: gnomon.Array, total: gnomon.Array, peak: gnomon.Array
) -> gnomon.Array:
  """Rises in a line to `peak`, then falls along half a cosine to 0 at the last step."""
  done = (step + 1) / total
  return peak * gnp.minimum(done / WARM_UP, 1) * (1 + gnp.cos(math.pi * done)) / 2


def update(
  state: State,
  batch: Split,
  key: gnomon.Array,
  rate: gnomon.Array,
) -> tuple[State, gnomon.Array]:
  """One step of gradient descent with momentum on a noisy copy of the batch."""
  noise = NOISE * random.normal(key, batch.images.shape, gnp.float32)
  value, gradient = gnomon.value_and_grad(loss)(
    state.params, batch.images + noise, batch.labels
  )
  velocity = gnomon.tree.map(lambda v, g: MOMENTUM * v + g, state.velocity, gradient)
  params = gnomon.tree.map(
    lambda p, v: p - rate * (v + WEIGHT_DECAY * p), state.params, velocity
  )
  return State(params, velocity, state.step + 1), value


@partial(gnomon.jit, donate_argnums=0)
def epoch(
  state: State,
  train: Split,
  batches: gnomon.Array,
  key: gnomon.Array,
  total: gnomon.Array,
  peak: gnomon.Array,
) -> tuple[State, gnomon.Array]:
  """Steps through `batches`, (steps, batch) positions in `train`; the loss of each.

  The old state is donated: its buffers are reused for the new one.
  """

  def step(state: State, batch: gnomon.Array) -> tuple[State, gnomon.Array]:
    examples = Split(train.images[batch], train.labels[batch])
    rate = learning_rate(state.step, total, peak)
    return update(state, examples, random.fold_in(key, state.step), rate)

  return lax.scan(step, state, batches)


def epochs(
  key: gnomon.Array, examples: int, batch: int, steps: int
) -> Iterator[tuple[gnomon.Array, gnomon.Array]]:
  """The batches of each epoch in a new order, with its key, until `steps` are done."""
  per_epoch = examples // batch
  for start in range(0, steps, per_epoch):
    order_key, noise_key = random.split(random.fold_in(key, start))
    n = min(per_epoch, steps - start)
    order = random.permutation(order_key, examples)[: n * batch]
    yield order.reshape(n, batch), noise_key


def train(
  key: gnomon.Array,
  split: Split,
  *,
  batch: int,
  steps: int,
  peak: float,
  track: Track = lambda chunks, count: chunks,
) -> Run:
  """Trains a new network for `steps` steps; `track` sees the epochs go by."""
  init_key, data_key = random.split(key)
  params = init(init_key)
  velocity = gnomon.tree.map(gnp.zeros_like, params)
  state = State(params, velocity, gnp.zeros((), gnp.int32))
  examples = split.images.shape[0]
  count = math.ceil(steps / (examples // batch))
  losses = []
  for batches, noise_key in track(epochs(data_key, examples, batch, steps), count):
    state, values = epoch(state, split, batches, noise_key, float(steps), peak)
    losses.append(np.asarray(values))
  return Run(state.params, np.concatenate(losses))


# --- the program -----------------------------------------------------------------------


def load(key: gnomon.Array) -> tuple[Split, Split]:
  """The digits that come with scikit-learn, shuffled: to train with, and held out."""
  from sklearn.datasets import load_digits

  digits = load_digits()
  order = random.permutation(key, len(digits.target))
  images = gnp.asarray(digits.data / 16, gnp.float32)[order]
  labels = gnp.asarray(digits.target, gnp.int32)[order]
  n = int(len(digits.target) * HELD_OUT)
  return Split(images[n:], labels[n:]), Split(images[:n], labels[:n])


def progress(chunks: Iterator[Chunk], count: int) -> Iterator[Chunk]:
  """Passes the epochs on and draws a bar that says how far they are."""
  from rich.progress import track

  yield from track(chunks, description="training", total=count)


def picture(run: Run, held_out: Split, seen: np.ndarray, path: Path) -> None:
  """Draws the loss of each step and the misread digits, the worst first."""
  from matplotlib.figure import Figure

  images, labels = np.asarray(held_out.images), np.asarray(held_out.labels)
  norms = np.asarray(gradient_norms(run.params, held_out))
  wrong = np.flatnonzero(seen != labels)
  wrong = wrong[np.argsort(-norms[wrong])][:10]
  figure = Figure(figsize=(10, 4), layout="constrained")
  left, right = figure.subfigures(1, 2, squeeze=False)[0]
  axes = left.subplots()
  axes.semilogy(run.losses, linewidth=0.5)
  axes.set(xlabel="step", ylabel="loss of the batch")
  right.suptitle("misread, the largest gradient first" if wrong.size else "none misread")
  cells = right.subplots(2, 5).ravel()
  for cell in cells:
    cell.set_axis_off()
  for cell, i in zip(cells, wrong, strict=False):
    cell.imshow(images[i].reshape(8, 8), cmap="gray_r")
    cell.set_title(f"{labels[i]} read as {seen[i]}", fontsize=8)
  figure.savefig(path, dpi=120)


def number(
  kind: Callable[[str], float], low: float, high: float, what: str
) -> Callable[[str], float]:
  """A parser of numbers from `low` to `high`; its error says that they are `what`."""

  def parse(text: str) -> float:
    try:
      value = kind(text)
    except ValueError:
      value = math.nan
    if not low <= value <= high:
      raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value

  return parse


def options() -> argparse.ArgumentParser:
  """The program's command line."""
  count = number(int, 1, 10**9, "a whole number of at least 1")
  seed = number(int, 0, 2**32 - 1, "a whole number from 0 to 4294967295")
  rate = number(float, 1e-9, 1e9, "a number above 0")
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
  )
  length = parser.add_mutually_exclusive_group()
  length.add_argument("--epochs", type=count, default=60, help="times through the data")
  length.add_argument("--steps", type=count, help="stop after this many batches")
  parser.add_argument("--batch", type=count, default=32, help="images in a batch")
  parser.add_argument("--seed", type=seed, default=0, help="of every random choice")
  parser.add_argument("--lr", type=rate, default=0.1, help="the highest learning rate")
  parser.add_argument(
    "--out", type=Path, default=Path("digits-out"), help="folder for the picture"
  )
  return parser


def main(argv: Sequence[str] | None = None) -> float:
  """Trains, reports, draws; returns the part of the held-out digits read right."""
  parser = options()
  args = parser.parse_args(argv)
  if args.out.exists() and not args.out.is_dir():
    parser.error(f"argument --out: {str(args.out)!r} is a file, not a folder")
  split_key, train_key = random.split(random.key(args.seed))
  split, held_out = load(split_key)
  examples = len(split.labels)
  if args.batch > examples:
    parser.error(
      f"argument --batch: {args.batch} images are more than the {examples} to train with"
    )
  steps = args.steps or args.epochs * (examples // args.batch)
  start = time.perf_counter()
  run = train(
    train_key, split, batch=args.batch, steps=steps, peak=args.lr, track=progress
  )
  seconds = time.perf_counter() - start
  lost = np.flatnonzero(~np.isfinite(run.losses))
  if lost.size:
    parser.error(
      f"argument --lr: with {args.lr} the loss was no longer finite at step {lost[0]}; "
      "choose a lower one"
    )
  seen = np.asarray(read(run.params, held_out.images))
  accuracy = float(np.mean(seen == np.asarray(held_out.labels)))
  args.out.mkdir(parents=True, exist_ok=True)
  path = args.out / "digits.png"
  picture(run, held_out, seen, path)
  print(f"steps          {steps}, loss {run.losses[0]:.4f} to {run.losses[-1]:.4f}")
  print(f"test accuracy  {accuracy:.2%} of {len(seen)} held-out digits")
  print(f"seconds        {seconds:.1f} with compilation")
  print(f"picture        {path}")
  return accuracy


if __name__ == "__main__":
  main()
