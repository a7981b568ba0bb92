"""Fit a small model with JAX."""

import jax
import jax.numpy as jnp

if __name__ == "__main__":
    print("jax", jax.__version__)
    print("devices", jax.devices())
    weights = jnp.ones((64, 64))
    loss = jax.jit(lambda w, x: jnp.tanh(x @ w).sum())
    for step in range(3):
        print("step", step, loss(weights, jnp.ones((8, 64))))
