"""Decoders as graphs for cold starts, with costs by a roofline: no operator was measured. docs/cold-start.md has the rates.

Sizes are those of the models' public configurations. All positions are computed at once, without a cache of keys and
values; elements and parameters have 4 bytes. The graphs are before any fusion of elementwise operators, as cuBLAS computes
products: a bias and a rotation are elementwise operators of a product's result, but a bias counts as part of its product.
"""

from dataclasses import dataclass

BYTES = 4  # of an element and of a parameter: single precision
LAUNCH_MS = 0.005  # assumed, of each operator
TILE = 128  # assumed: rows of a product that one read of its parameters serves, where it reads them in place


@dataclass(frozen=True)
class Model:
    name: str
    family: str
    layers: int
    hidden: int
    heads: int
    inner: int
    vocabulary: int


MODELS = (Model("GPT2-large", "gpt2", 36, 1280, 20, 5120, 50257), Model("GPT2-xl", "gpt2", 48, 1600, 25, 6400, 50257),
          Model("OpenLLaMA-3B", "llama", 26, 3200, 32, 8640, 32000), Model("OpenLLaMA-7B", "llama", 32, 4096, 32, 11008, 32000))
SHAPES = ((1, 32), (1, 1024), (4, 128), (32, 64))  # batch, sequence length
POSITIONS = 1024  # of GPT-2


class Builder:
    """Operators in order, each with its work: flop, bytes moved in memory, parameters, and bytes that it reads in place."""

    def __init__(self, model, batch, sequence):
        self.model, self.batch, self.sequence = model, batch, sequence
        self.tokens = batch * sequence
        self.operators, self.edges, self.written = [], [], {}

    def add(self, name, inputs, elements, flop=0, parameters=0, in_place=None, shared=None):
        """Adds an operator with this number of output elements, which reads its inputs and parameters once. `in_place`:
        parameters that it reads in a store, with repetitions, where they are not all once. Returns its name."""
        written = elements * BYTES
        read = sum(self.written[each] for each in inputs)
        self.operators.append({"name": name, "flop": max(flop, elements), "activation_bytes": read + written,
                               "parameter_bytes": parameters * BYTES, "shared": shared,
                               "in_place_bytes": (parameters if in_place is None else in_place) * BYTES})
        self.edges += [{"from": each, "to": name, "bytes": self.written[each]} for each in inputs]
        self.written[name] = written
        return name

    def product(self, name, value, columns, rows, bias=False, shared=None):
        """Adds the product of all tokens with parameters of rows x columns."""
        parameters = rows * columns + (columns if bias else 0)
        return self.add(name, [value], self.tokens * columns, 2 * self.tokens * columns * rows, parameters,
                        parameters * -(-self.tokens // TILE), shared)

    def plain(self, name, inputs, width=None, parameters=0):
        """Adds an elementwise operator, whose result has `width` elements a token."""
        return self.add(name, inputs, self.tokens * (width or self.model.hidden), parameters=parameters)

    def look_up(self, name, inputs, rows, shared=None):
        """Adds an embedding: each token reads one of its rows."""
        width = self.model.hidden
        self.add(name, inputs, self.tokens * width, parameters=rows * width, in_place=min(rows, self.tokens) * width,
                 shared=shared)
        # It reads the rows of its tokens, not the table.
        self.operators[-1]["activation_bytes"] -= (rows - min(rows, self.tokens)) * width * BYTES  # may be negative
        return name

    def attention(self, prefix, q, k, v):
        scores = self.batch * self.model.heads * self.sequence * self.sequence
        flop = 2 * self.batch * self.sequence * self.sequence * self.model.hidden
        made = self.add(f"{prefix}_scores", [q] if q == k else [q, k], scores, flop)
        made = self.add(f"{prefix}_softmax", [made], scores)
        return self.add(f"{prefix}_context", [made, v], self.tokens * self.model.hidden, flop)


def gpt2(builder):
    model = builder.model
    hidden = model.hidden
    embedded = builder.look_up("tokens", [], model.vocabulary, "tokens")
    value = builder.plain("positions", [embedded], parameters=POSITIONS * hidden)
    for layer in range(model.layers):
        at = f"l{layer}"
        normal = builder.plain(f"{at}_norm1", [value], parameters=2 * hidden)
        joined = builder.product(f"{at}_qkv", normal, 3 * hidden, hidden, bias=True)
        q, k, v = (builder.plain(f"{at}_{each}", [joined]) for each in "qkv")
        made = builder.product(f"{at}_project", builder.attention(at, q, k, v), hidden, hidden, bias=True)
        value = builder.plain(f"{at}_add1", [value, made])
        normal = builder.plain(f"{at}_norm2", [value], parameters=2 * hidden)
        made = builder.product(f"{at}_up", normal, model.inner, hidden, bias=True)
        made = builder.plain(f"{at}_gelu", [made], model.inner)
        made = builder.product(f"{at}_down", made, hidden, model.inner, bias=True)
        value = builder.plain(f"{at}_add2", [value, made])
    normal = builder.plain("norm", [value], parameters=2 * hidden)
    builder.product("logits", normal, model.vocabulary, hidden, shared="tokens")


def llama(builder):
    model = builder.model
    hidden = model.hidden
    value = builder.look_up("tokens", [], model.vocabulary)
    for layer in range(model.layers):
        at = f"l{layer}"
        normal = builder.plain(f"{at}_norm1", [value], parameters=hidden)
        q, k, v = (builder.product(f"{at}_{each}", normal, hidden, hidden) for each in "qkv")
        q, k = (builder.plain(f"{at}_rotate_{each}", [made]) for each, made in (("q", q), ("k", k)))
        made = builder.product(f"{at}_project", builder.attention(at, q, k, v), hidden, hidden)
        value = builder.plain(f"{at}_add1", [value, made])
        normal = builder.plain(f"{at}_norm2", [value], parameters=hidden)
        gate, up = (builder.product(f"{at}_{each}", normal, model.inner, hidden) for each in ("gate", "up"))
        made = builder.plain(f"{at}_silu", [gate, up], model.inner)
        made = builder.product(f"{at}_down", made, hidden, model.inner)
        value = builder.plain(f"{at}_add2", [value, made])
    normal = builder.plain("norm", [value], parameters=hidden)
    builder.product("logits", normal, model.vocabulary, hidden)


def roofline_ms(operator, gpu, rate_gb_per_s=None):
    """Time on a GPU (cold_servers.Gpu) with its parameters there; with `rate_gb_per_s`, where it reads them in place at this
    rate. Whatever takes longest hides the rest."""
    compute = operator["flop"] / (gpu.tflops * 1e9)
    moved = (operator["activation_bytes"] + operator["parameter_bytes"]) / (gpu.memory_gb_per_s * 1e6)
    read = operator["in_place_bytes"] / (rate_gb_per_s * 1e6) if rate_gb_per_s else 0
    return LAUNCH_MS + max(compute, moved, read)


def work(model, batch, sequence):
    """The operators with their work, and the edges with their bytes, in order."""
    builder = Builder(model, batch, sequence)
    {"gpt2": gpt2, "llama": llama}[model.family](builder)
    return builder.operators, builder.edges


def graph(model, batch, sequence, gpus):
    """A hios-graph object; `gpus`: (Gpu, GB/s of its loads) by kind of device."""
    operators, edges = work(model, batch, sequence)
    timed = []
    for operator in operators:
        times = {kind: round(roofline_ms(operator, gpu), 6) for kind, (gpu, _) in gpus.items()}
        made = {"name": operator["name"], "time_ms": times}
        if operator["parameter_bytes"]:
            made["parameter_bytes"] = operator["parameter_bytes"]
            made["in_place_bytes"] = operator["in_place_bytes"]
            made["in_place_ms"] = {kind: round(roofline_ms(operator, gpu, rate), 6) for kind, (gpu, rate) in gpus.items()}
        if operator["shared"]:
            made["parameters"] = operator["shared"]
        timed.append(made)
    return {"format": "hios-graph", "version": 1, "name": f"{model.name} ({batch}, {sequence})", "operators": timed,
            "edges": edges, "stage_cost": {"kind": "serial"}}
