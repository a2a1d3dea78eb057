"""Words of 64 bits, and blocks of eight words as one vector value, for the row kernels.

A row is a bitmap of 2**n bits, n >= 14: its axes 0-5 lie inside a word, axes 6-8 inside a *block*
of eight words, the rest number the blocks. Compilers vectorise the loops over words unreliably
(short runs, possible overlap of source and target), so a block is a numba type of its own here, a
vector of eight uint64, with the handful of operations that the row kernels are written in.

Invariant: every word is `uint64`, shift counts included; a signed operand would make it a float.
Loads and stores check no bounds: rows lie inside planes that have `MARGIN` spare words at each end.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

BLOCK_WORDS = 8
MARGIN = 8

# AXIS[a]: the bits of a word whose index has bit a set, that is, the half 1 of axis a.
AXIS = np.array([sum(1 << x for x in range(64) if x >> a & 1) for a in range(6)], dtype=np.uint64)

_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_VECTOR = ir.VectorType(_I64, BLOCK_WORDS)
_ANY = ir.Constant(_VECTOR, ir.Undefined)


class _BlockType(types.Type):
    """The numba type of a block: eight words in one vector register."""

    def __init__(self) -> None:
        super().__init__(name="Block")


block_type = _BlockType()


@register_model(_BlockType)
class _BlockModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _call(builder, name, result, args):
    function_type = ir.FunctionType(result, [a.type for a in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), args)


@intrinsic
def popcount(typingctx, word):
    """Number of set bits of a uint64, as int64."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.ctpop.i64", _I64, args)

    return types.int64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Index of the lowest set bit of a uint64, as int64; 64 when no bit is set."""

    def codegen(context, builder, signature, args):
        zero_is_defined = ir.Constant(ir.IntType(1), 0)
        return _call(builder, "llvm.cttz.i64", _I64, [args[0], zero_is_defined])

    return types.int64(types.uint64), codegen


def _address(context, builder, array_type, array, offset):
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


def _block_address(context, builder, array_type, array, offset):
    address = _address(context, builder, array_type, array, offset)
    return builder.bitcast(address, _VECTOR.as_pointer())


def _splat(builder, word):
    vector = builder.insert_element(_ANY, word, _I32(0))
    return builder.shuffle_vector(vector, _ANY, _shuffle_mask([0] * BLOCK_WORDS))


def _shuffle_mask(lanes):
    return ir.Constant(ir.VectorType(_I32, BLOCK_WORDS), lanes)


_WORDS = types.Array(types.uint64, 1, "C")
_OFFSETS = types.Array(types.int64, 1, "C")


@intrinsic
def load(typingctx, words, at):
    """The block words[at : at + 8] of a flat uint64 array."""

    def codegen(context, builder, signature, args):
        address = _block_address(context, builder, signature.args[0], args[0], args[1])
        return builder.load(address, align=8)

    return block_type(_WORDS, types.int64), codegen


@intrinsic
def store(typingctx, words, at, block):
    """words[at : at + 8] = block."""

    def codegen(context, builder, signature, args):
        address = _block_address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], address, align=8)
        return context.get_dummy_value()

    return types.void(_WORDS, types.int64, block_type), codegen


@intrinsic
def gather(typingctx, words, at, offsets, first):
    """The block of words[at + offsets[first + e]], e = 0..7; offsets is a flat int64 array."""

    def codegen(context, builder, signature, args):
        words, at, offsets, first = args
        base = _address(context, builder, signature.args[0], words, at)
        offset_address = _address(context, builder, signature.args[2], offsets, first)
        block = _ANY
        for lane in range(BLOCK_WORDS):
            offset = builder.load(builder.gep(offset_address, [_I64(lane)]))
            word = builder.load(builder.gep(base, [offset]))
            block = builder.insert_element(block, word, _I32(lane))
        return block

    return block_type(_WORDS, types.int64, _OFFSETS, types.int64), codegen


@intrinsic
def splat(typingctx, word):
    """The block of eight times the same word."""

    def codegen(context, builder, signature, args):
        return _splat(builder, args[0])

    return block_type(types.uint64), codegen


def _binary(name, doc):
    @intrinsic
    def operation(typingctx, a, b):
        def codegen(context, builder, signature, args):
            return getattr(builder, name)(*args)

        return block_type(block_type, block_type), codegen

    operation.__doc__ = doc
    return operation


both = _binary("and_", "The bits that two blocks share.")
either = _binary("or_", "The bits of either of two blocks.")
differ = _binary("xor", "The bits in which two blocks differ.")


def _shift(name, doc):
    @intrinsic
    def operation(typingctx, block, count):
        def codegen(context, builder, signature, args):
            return getattr(builder, name)(args[0], _splat(builder, args[1]))

        return block_type(block_type, types.uint64), codegen

    operation.__doc__ = doc
    return operation


left = _shift("shl", "Every word of a block shifted left by one uint64 count below 64.")
right = _shift("lshr", "Every word of a block shifted right by one uint64 count below 64.")


@intrinsic
def without(typingctx, a, b):
    """The bits of block a that block b lacks."""

    def codegen(context, builder, signature, args):
        return builder.and_(args[0], builder.not_(args[1]))

    return block_type(block_type, block_type), codegen


def _flip(axis):
    @intrinsic
    def operation(typingctx, block):
        def codegen(context, builder, signature, args):
            lanes = [e ^ (1 << axis) for e in range(BLOCK_WORDS)]
            return builder.shuffle_vector(args[0], _ANY, _shuffle_mask(lanes))

        return block_type(block_type), codegen

    operation.__doc__ = f"A block with the halves of its word axis {axis} traded."
    return operation


flip0, flip1, flip2 = _flip(0), _flip(1), _flip(2)


@intrinsic
def count_bits(typingctx, block):
    """Number of set bits of a block, as int64."""

    def codegen(context, builder, signature, args):
        counts = _call(builder, "llvm.ctpop.v8i64", _VECTOR, args)
        return _call(builder, "llvm.vector.reduce.add.v8i64", _I64, [counts])

    return types.int64(block_type), codegen


@intrinsic
def any_bit(typingctx, block):
    """The OR of the eight words of a block, as uint64: zero when the block is empty."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.vector.reduce.or.v8i64", _I64, args)

    return types.uint64(block_type), codegen
