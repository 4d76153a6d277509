"""A jraph graph network that learns the degrees of nodes; prints losses."""

import json

import haiku as hk
import jax
import jax.numpy as jnp
import jraph
import numpy as np
from jax import random

rng = np.random.RandomState(0)
senders, receivers = rng.randint(0, 12, 40), rng.randint(0, 12, 40)
degree = np.bincount(receivers, minlength=12).astype(np.float32)[:, None] / 4
graph = jraph.GraphsTuple(
    nodes=rng.randn(12, 3).astype(np.float32), edges=rng.randn(40, 2).astype(np.float32),
    senders=senders, receivers=receivers, n_node=np.array([12]), n_edge=np.array([40]),
    globals=np.zeros((1, 1), np.float32))
graph = jraph.pad_with_graphs(graph, 16, 48)


def network(graph):
  @jraph.concatenated_args
  def update(features):
    return hk.nets.MLP([16, 1])(features)

  return jraph.GraphNetwork(
      update_edge_fn=update, update_node_fn=update, update_global_fn=update)(graph)


model = hk.without_apply_rng(hk.transform(network))
params = model.init(random.PRNGKey(0), graph)
mask = jraph.get_node_padding_mask(graph)[:, None]
wanted = np.concatenate([degree, np.zeros((4, 1), np.float32)])


@jax.jit
def step(params):
  def loss(params):
    out = model.apply(params, graph).nodes
    return jnp.sum(jnp.where(mask, (out - wanted) ** 2, 0)) / 12
  value, gradient = jax.value_and_grad(loss)(params)
  return jax.tree.map(lambda p, g: p - 0.02 * g, params, gradient), value


losses = []
for _ in range(80):
  params, value = step(params)
  losses.append(float(value))
print(json.dumps({"first": losses[:3], "last": losses[-1]}))
