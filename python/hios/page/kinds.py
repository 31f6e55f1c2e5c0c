"""The kind of an operator by its name. Reports name operators, not their kinds: ours are kind and number (conv_3),
those of ONNX files are the names of their nodes (/features/3/conv/Conv).
"""

import re
from functools import lru_cache

# kind: words in names, the first that is found decides
KINDS = {
    "depthwise": ("sepconv", "depthwise", "dwconv"),
    "convolution": ("conv", "merged"),
    "pool": ("pool",),
    "matrix product": ("matmul", "gemm", "linear", "dense", "fc", "attention"),
    "concat": ("concat", "concatenate", "cat"),
    "sum": ("sum", "add", "residual", "identity"),
    "function": ("relu", "sigmoid", "softmax", "silu", "gelu", "tanh", "clip", "hardswish", "activation", "act", "mul", "sub",
                 "div", "pow", "prelu", "elu", "selu", "swish", "exp", "sqrt", "erf"),
    "normalization": ("norm", "normalization", "batchnorm", "layernorm", "lrn", "bn"),
    "movement": ("move", "resize", "pad", "slice", "split", "transpose", "reshape", "flatten", "gather", "upsample", "shuffle",
                 "reduce", "mean"),
}
OTHER = "other"
NAMES = (*KINDS, OTHER)


def words_of(name):
    """The words in a name, the last first, in lower case: GlobalAveragePool_1 has pool, average, global."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)][::-1]


def contains(word, sign):
    return word == sign or (len(sign) > 3 and sign in word)


@lru_cache(maxsize=100_000)
def kind_of(name):
    """The kind of the first operator in a name; operators of a group are joined by " + "."""
    first = re.sub(r"^\d+: ", "", name).split(" + ")[0]
    for word in words_of(first):
        for kind, signs in KINDS.items():
            if any(contains(word, sign) for sign in signs):
                return kind
    return OTHER
