"""GPT-3 as a graph. The papers give sizes and, MOIRAI in its Table IV, numbers of operators, but not the operators
themselves. Twelve for each head and eleven more in a layer give its numbers exactly:

per head     q, k and v: each a product and a bias; transpose, scores, scale, mask, softmax, weighted sum
per layer    normalise, concatenate, project and bias, add; normalise, up and bias, GELU, down, add

(1.3B has 9,480 with 24 layers; the table's 32 would give 12,640, the number of 2.7B.) Coarsened, a product and the
bias after it are one operator: nine per head and nine per layer, within 4 % of the table's numbers.
"""

from dataclasses import dataclass

BYTES = 2  # of an element: half precision


@dataclass(frozen=True)
class Size:
    name: str
    layers: int
    hidden: int
    heads: int
    tokens: int = 2048


# MOIRAI, Table IV; 1.3B with its 24 layers.
SIZES = (Size("GPT-3 330M", 24, 1024, 16), Size("GPT-3 1.3B", 24, 2048, 32), Size("GPT-3 2.7B", 32, 2560, 32),
         Size("GPT-3 13B", 40, 5120, 40))


class Builder:
    """Operators in order, with their arithmetic, bytes and weights; edges with the bytes of their tensors."""

    def __init__(self, size, coarse):
        self.size, self.coarse = size, coarse
        self.operators, self.edges, self.written = [], [], {}

    def add(self, name, inputs, elements, flop=0, weights=0):
        """Adds an operator with this number of output elements, which reads its inputs and weights once. Returns its name."""
        written = elements * BYTES
        read = sum(self.written[each] for each in inputs if each)
        self.operators.append({"name": name, "flop": max(flop, elements), "bytes": read + written + weights * BYTES,
                               "weight_bytes": weights * BYTES})
        self.edges += [{"from": each, "to": name, "bytes": self.written[each]} for each in inputs if each]
        self.written[name] = written
        return name

    def product(self, name, value, columns, rows, bias=True):
        """Adds the product of all tokens with weights of rows x columns, and the bias."""
        elements, weights = self.size.tokens * columns, rows * columns
        made = self.add(name, [value], elements, 2 * elements * rows, weights)
        return made if self.coarse or not bias else self.add(f"{name}_bias", [made], elements, weights=columns)

    def head(self, prefix, value):
        tokens, wide = self.size.tokens, self.size.hidden // self.size.heads
        q, k, v = (self.product(f"{prefix}_{each}", value, wide, self.size.hidden) for each in "qkv")
        turned = self.add(f"{prefix}_transpose", [k], tokens * wide)
        made = self.add(f"{prefix}_scores", [q, turned], tokens * tokens, 2 * tokens * tokens * wide)
        for step in ("scale", "mask", "softmax"):
            made = self.add(f"{prefix}_{step}", [made], tokens * tokens)
        return self.add(f"{prefix}_sum", [made, v], tokens * wide, 2 * tokens * tokens * wide)

    def layer(self, prefix, value):
        tokens, hidden = self.size.tokens, self.size.hidden
        plain = tokens * hidden
        normal = self.add(f"{prefix}_norm1", [value], plain)
        heads = [self.head(f"{prefix}_h{index}", normal) for index in range(self.size.heads)]
        joined = self.add(f"{prefix}_concat", heads, plain)
        sent = self.product(f"{prefix}_project", joined, hidden, hidden)
        middle = self.add(f"{prefix}_add1", [value, sent], plain)
        normal = self.add(f"{prefix}_norm2", [middle], plain)
        up = self.product(f"{prefix}_up", normal, 4 * hidden, hidden)
        bent = self.add(f"{prefix}_gelu", [up], 4 * plain)
        down = self.product(f"{prefix}_down", bent, hidden, 4 * hidden, bias=False)
        return self.add(f"{prefix}_add2", [middle, down], plain)


def gpt3(size, coarse):
    """Operators with their work, and edges with their bytes, in order."""
    builder, value = Builder(size, coarse), None
    for index in range(size.layers):
        value = builder.layer(f"l{index}", value)
    return builder.operators, builder.edges
