"""The digits example: JAX's numbers for its first steps, its accuracy, its messages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon import random

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import digits  # noqa: E402  (the example is a program, not an installed module)


@pytest.fixture(scope="module")
def recorded() -> dict[str, list[float]]:
  return json.loads((ROOT / "tests" / "data" / "digits_first_steps.json").read_text())


@pytest.fixture(scope="module")
def splits() -> tuple[digits.Split, digits.Split]:
  split_key, _ = random.split(random.key(0))
  return digits.load(split_key)


@pytest.fixture(scope="module")
def run(
  recorded: dict[str, list[float]], splits: tuple[digits.Split, digits.Split]
) -> digits.Run:
  _, train_key = random.split(random.key(0))
  how = {name: recorded[name] for name in ("batch", "steps", "peak")}
  return digits.train(train_key, splits[0], **how)


def test_held_out_digits_are_those_of_jax(
  recorded: dict[str, list[float]], splits: tuple[digits.Split, digits.Split]
) -> None:
  assert np.asarray(splits[1].labels).tolist() == recorded["held_out_labels"]
  assert splits[0].images.shape == (1438, 64)


def test_first_losses_are_those_of_jax(
  recorded: dict[str, list[float]], run: digits.Run
) -> None:
  np.testing.assert_allclose(run.losses, recorded["losses"], rtol=0, atol=1e-5)


def test_network_after_ten_steps_is_that_of_jax(
  recorded: dict[str, list[float]],
  run: digits.Run,
  splits: tuple[digits.Split, digits.Split],
) -> None:
  sums = [float(np.sum(np.abs(leaf))) for layer in run.params for leaf in layer]
  np.testing.assert_allclose(sums, recorded["sums"], rtol=1e-5)
  norms = np.asarray(digits.gradient_norms(run.params, splits[1]))
  np.testing.assert_allclose(norms[:20], recorded["gradient_norms"], rtol=1e-4)
  read = np.asarray(digits.read(run.params, splits[1].images))
  assert read.tolist() == recorded["read"]


def test_gradient_norm_is_that_of_finite_differences(
  run: digits.Run, splits: tuple[digits.Split, digits.Split]
) -> None:
  image, label = splits[1].images[0], splits[1].labels[0]
  gradient = gnomon.grad(digits.surprise)(run.params, image, label)
  step = 1e-2
  norm = np.sqrt(sum(float(np.sum(np.square(g))) for d in gradient for g in d))

  def moved(t: float) -> float:
    params = gnomon.tree.map(lambda p, g: p + t / norm * g, run.params, gradient)
    return float(digits.surprise(params, image, label))

  slope = (moved(step) - moved(-step)) / (2 * step)
  np.testing.assert_allclose(slope, norm, rtol=2e-2)
  norms = digits.gradient_norms(run.params, splits[1])
  np.testing.assert_allclose(float(norms[0]), norm, rtol=1e-5)


def test_learning_rate_rises_then_falls_to_zero() -> None:
  rates = [float(digits.learning_rate(s, 100.0, 0.1)) for s in range(100)]
  assert np.argmax(rates) == 4
  assert np.all(np.diff(rates[4:]) < 0)
  assert rates[-1] == pytest.approx(0, abs=1e-7)


def test_epochs_visit_every_example_once_in_a_new_order() -> None:
  chunks = list(digits.epochs(random.key(1), 10, 5, 5))
  orders = [np.asarray(batches).ravel() for batches, _ in chunks]
  assert [len(order) for order in orders] == [10, 10, 5]
  assert sorted(orders[0]) == sorted(orders[1]) == list(range(10))
  assert list(orders[0]) != list(orders[1])


def test_main_reaches_the_accuracy_and_writes_the_picture(
  tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
  accuracy = digits.main(["--out", str(tmp_path / "new" / "folder")])
  assert accuracy >= 0.97
  assert "test accuracy" in capsys.readouterr().out
  picture = (tmp_path / "new" / "folder" / "digits.png").read_bytes()
  assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize(
  ("argv", "message"),
  [
    (["--epochs", "0"], "--epochs: '0' is not a whole number of at least 1"),
    (["--batch", "1.5"], "--batch: '1.5' is not a whole number of at least 1"),
    (["--batch", "5000"], "5000 images are more than the 1438 to train with"),
    (["--seed", "-1"], "--seed: '-1' is not a whole number from 0 to 4294967295"),
    (["--lr", "nan"], "--lr: 'nan' is not a number above 0"),
    (["--lr", "1e5", "--steps", "20"], "the loss was no longer finite at step"),
    (["--out", __file__], "is a file, not a folder"),
    (["--steps", "3", "--epochs", "2"], "not allowed with argument"),
  ],
)
def test_bad_arguments_are_explained(
  argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
  with pytest.raises(SystemExit):
    digits.main(argv)
  assert message in capsys.readouterr().err
