"""The estimate of a density by normal distributions around a sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax, random
from gnomon.numpy._promotion import promote_args_inexact, promote_dtypes_inexact
from gnomon.scipy import special
from gnomon.scipy.stats import multivariate_normal
from gnomon.tree_util import register_pytree_node_class


@register_pytree_node_class
class gaussian_kde:
  r"""The estimate of a density, :math:`\sum_i w_i N(x; x_i, \Sigma)`, from a sample.

  Args:
    dataset: array of shape `(d, n)`, or `(n,)` for one variable: the sample.
    bw_method: what the sample's standard deviation is multiplied by: a number, a function
      of this object, `"silverman"` for :math:`(n (d + 2) / 4)^{-1/(d+4)}`, or `"scott"`,
      also None, for :math:`n^{-1/(d+4)}`, with the effective size.
    weights: array of shape `(n,)`; equal by default.

  Attributes:
    neff: the effective size of the sample, :math:`1 / \sum w_i^2`.
    dataset: the sample, of shape `(d, n)`.
    weights: the weights, of sum 1.
    covariance: of each normal distribution.
    inv_cov: its inverse.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import stats
  >>> round(stats.gaussian_kde(gnp.array([0.0, 1.0, 3.0]))(1.0)[0].item(), 3)
  0.215

  Raises:
    NotImplementedError: the sample is complex.
    TypeError: an argument is no array.
    ValueError: the sample has one element, or a shape or the method is not as above.
  """

  neff: Any
  dataset: Any
  weights: Any
  covariance: Any
  inv_cov: Any

  def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
    (dataset,) = promote_args_inexact("gaussian_kde", dataset)
    if gnp.issubdtype(dataset.dtype, gnp.complexfloating):
      raise NotImplementedError("gaussian_kde: dataset is complex; use real samples")
    dataset = gnp.atleast_2d(dataset)
    if dataset.size <= 1:
      raise ValueError(
          f"gaussian_kde: dataset has {dataset.size} elements; expected more than one")
    d, n = dataset.shape
    if weights is None:
      weights = gnp.full(n, 1 / n, dataset.dtype)
    else:
      dataset, weights = promote_dtypes_inexact(dataset, gnp.atleast_1d(weights))
      if weights.shape != (n,):
        raise ValueError(
            f"gaussian_kde: weights has the shape {weights.shape}; expected ({n},), one "
            "for each column of dataset")
      weights = weights / weights.sum()
    self.dataset, self.weights = dataset, weights
    self.neff = 1 / (weights * weights).sum()
    factor = self._factor(bw_method, d)
    spread = gnp.cov(dataset, rowvar=True, bias=False, aweights=weights)
    spread = gnp.atleast_2d(spread)
    self.covariance = spread * factor ** 2
    self.inv_cov = gnp.linalg.inv(spread) / factor ** 2

  def _factor(self, method: Any, d: int) -> Any:
    if method is None or method == "scott":
      return gnp.power(self.neff, -1.0 / (d + 4))
    if method == "silverman":
      return gnp.power(self.neff * (d + 2) / 4.0, -1.0 / (d + 4))
    if callable(method):
      return method(self)
    if isinstance(method, str) or np.ndim(method) != 0:
      raise ValueError(
          f"gaussian_kde: bw_method is {method!r}; expected 'scott', 'silverman', a "
          "number or a function")
    return method

  @property
  def d(self) -> int:
    """The number of variables."""
    return int(self.dataset.shape[0])

  @property
  def n(self) -> int:
    """The size of the sample."""
    return int(self.dataset.shape[1])

  def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
    """The arrays, for transformations."""
    return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

  @classmethod
  def tree_unflatten(cls, aux_data: None, children: Any) -> gaussian_kde:
    """The object of its arrays."""
    del aux_data
    kde = object.__new__(cls)
    kde.neff, kde.dataset, kde.weights, kde.covariance, kde.inv_cov = children
    return kde

  def _points(self, points: Any) -> Any:
    points = gnp.atleast_2d(gnp.asarray(points, self.dataset.dtype))
    d, m = points.shape
    if d != self.d and d == 1 and m == self.d:
      points, d = points.reshape(self.d, 1), self.d
    if d != self.d:
      raise ValueError(
          f"gaussian_kde: points has {d} rows; expected {self.d}, as dataset has")
    return points

  def logpdf(self, x: Any) -> Any:
    """The logarithm of the estimate, at the columns of an array of shape `(d, m)`."""
    points = self._points(x)
    terms = multivariate_normal.logpdf(
        points.T[:, None, :], self.dataset.T[None], self.covariance)
    return special.logsumexp(terms, axis=1, b=self.weights[None])

  def evaluate(self, points: Any) -> Any:
    """The estimate, at the columns of an array of shape `(d, m)`."""
    points = self._points(points)
    terms = multivariate_normal.pdf(
        points.T[:, None, :], self.dataset.T[None], self.covariance)
    return gnp.matmul(terms, self.weights)

  def __call__(self, points: Any) -> Any:
    """The same as `evaluate`."""
    return self.evaluate(points)

  def pdf(self, x: Any) -> Any:
    """The same as `evaluate`."""
    return self.evaluate(x)

  def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
    """The integral of the estimate times a normal density."""
    mean = gnp.atleast_1d(gnp.squeeze(gnp.asarray(mean)))
    cov = gnp.atleast_2d(gnp.asarray(cov))
    if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
      raise ValueError(
          f"gaussian_kde: mean and cov have the shapes {mean.shape} and {cov.shape}; "
          f"expected ({self.d},) and ({self.d}, {self.d})")
    terms = multivariate_normal.pdf(self.dataset.T, mean, self.covariance + cov)
    return gnp.vdot(terms, self.weights)

  def integrate_box_1d(self, low: Any, high: Any) -> Any:
    """The integral of the estimate of one variable between two numbers."""
    if self.d != 1:
      raise ValueError(
          f"gaussian_kde: dataset has {self.d} variables; integrate_box_1d expected one")
    if np.ndim(low) != 0 or np.ndim(high) != 0:
      raise ValueError("gaussian_kde: low and high are arrays; expected numbers")
    deviation = gnp.sqrt(self.covariance[0, 0])
    upper = special.ndtr((high - self.dataset[0]) / deviation)
    lower = special.ndtr((low - self.dataset[0]) / deviation)
    return gnp.vdot(self.weights, upper - lower)

  def integrate_kde(self, other: gaussian_kde) -> Any:
    """The integral of the product of two estimates."""
    if other.d != self.d:
      raise ValueError(
          f"gaussian_kde: other has {other.d} variables; expected {self.d}")
    terms = multivariate_normal.pdf(
        self.dataset.T[:, None, :], other.dataset.T[None],
        self.covariance + other.covariance)
    return self.weights @ terms @ other.weights

  def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None) -> Any:
    """Not available: use `integrate_box_1d` for one variable."""
    del low_bounds, high_bounds, maxpts
    raise NotImplementedError(
        "gaussian_kde.integrate_box is not available; use integrate_box_1d")

  def set_bandwidth(self, bw_method: Any = None) -> None:
    """Not available: arrays of an estimate do not change; make another."""
    del bw_method
    raise NotImplementedError(
        "gaussian_kde.set_bandwidth would change the estimate; use another gaussian_kde")

  def resample(self, key: Any, shape: tuple[int, ...] = ()) -> Any:
    """Samples of the estimate, of shape `(d, *shape)`."""
    choice_key, noise_key = random.split(key)
    chosen = random.choice(choice_key, self.n, shape=shape, p=self.weights)
    factor = gnp.linalg.cholesky(self.covariance)
    noise = random.normal(noise_key, (self.d, *shape), self.dataset.dtype)
    flat = lax.reshape(noise, (self.d, math.prod(shape)))
    return self.dataset[:, chosen] + (factor @ flat).reshape(self.d, *shape)
