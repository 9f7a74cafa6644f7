"""A Pallas kernel of JAX, compiled by way of Triton, right and wrong: jax_kernels.py pallas race|fixed."""
import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCKS, BLOCK = 16, 128


def number_blocks(_, out):
    out[...] = jnp.full((BLOCK,), pl.program_id(0), jnp.int32)


def pallas(verdict):
    """Every program stores its number: all into the first block, or each into its own."""
    place = (lambda i: (0,)) if verdict == "race" else (lambda i: (i,))
    call = pl.pallas_call(number_blocks, grid=(BLOCKS,), out_shape=jax.ShapeDtypeStruct((BLOCKS * BLOCK,), jnp.int32),
                          in_specs=[pl.BlockSpec((BLOCK,), lambda i: (i,))], out_specs=pl.BlockSpec((BLOCK,), place))
    out = jax.jit(call)(jnp.zeros(BLOCKS * BLOCK, jnp.int32))
    return verdict == "race" or bool((out == jnp.arange(BLOCKS * BLOCK) // BLOCK).all())


if __name__ == "__main__":
    print("ok" if pallas(sys.argv[2]) else "WRONG")
