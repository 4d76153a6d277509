"""A flax nnx convolutional network with batch norm and dropout on the digits."""

import json

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from sklearn.datasets import load_digits

digits = load_digits()
images = (digits.images / 16).astype(np.float32)[:512, ..., None]
labels = digits.target[:512]


class Model(nnx.Module):
  def __init__(self, rngs):
    self.conv = nnx.Conv(1, 8, (3, 3), rngs=rngs)
    self.norm = nnx.BatchNorm(8, rngs=rngs)
    self.drop = nnx.Dropout(0.2, rngs=rngs)
    self.out = nnx.Linear(128, 10, rngs=rngs)

  def __call__(self, x):
    x = nnx.relu(self.norm(self.conv(x)))
    x = nnx.avg_pool(x, (2, 2), (2, 2))
    return self.out(self.drop(x.reshape(x.shape[0], -1)))


model = Model(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)


@nnx.jit
def step(model, optimizer, x, y):
  def loss(model):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()
  value, gradient = nnx.value_and_grad(loss)(model)
  optimizer.update(model, gradient)
  return value


losses = [float(step(model, optimizer, images, labels)) for _ in range(30)]
model.eval()
right = float((model(images).argmax(-1) == labels).mean())
print(json.dumps({"first": losses[:3], "last": losses[-1], "accuracy": right,
                  "mean": float(jnp.abs(model.norm.mean[...]).sum())}))
