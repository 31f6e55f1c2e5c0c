// Functions and normalizations that files write out are read as one layer, in all the orders in
// which exporters write them, and compute the same. Patterns that differ slightly are left alone.

#include "engine/onnx/written_out.h"

namespace hios::test {
namespace {

constexpr float kRoot = 1.41421356f;

TEST(WrittenOut, GeluByErfIsOneLayer) {
  const auto gelu = [](const char* what, auto&& write) {
    Net net({1, 6, 5, 7});
    write(net);
    expect_read_as(net, {"Gelu"}, what);
  };
  const auto tail = [](Net& n, const std::string& inner) {
    return n.op("Add", {n.op("Erf", {inner}), n.constant(1)});
  };
  gelu("PyTorch", [&](Net& n) {
    const std::string t = tail(n, n.op("Div", {"x", n.constant(kRoot)}));
    n.op("Mul", {n.op("Mul", {"x", t}), n.constant(0.5f)});
  });
  gelu("five digits, constants first", [&](Net& n) {
    const std::string e = n.op("Erf", {n.op("Mul", {n.constant(0.70711f), "x"})});
    const std::string t = n.op("Add", {n.constant(1), e});
    n.op("Mul", {n.constant(0.5f), n.op("Mul", {t, "x"})});
  });
  gelu("half of x first", [&](Net& n) {
    const std::string h = n.op("Mul", {"x", n.constant(0.5f)});
    n.op("Mul", {h, tail(n, n.op("Div", {"x", n.constant(kRoot)}))});
  });
  gelu("half of the gate, by a division", [&](Net& n) {
    const std::string t = tail(n, n.op("Mul", {"x", n.constant(1 / kRoot)}));
    n.op("Mul", {n.op("Div", {t, n.constant(2)}), "x"});
  });
  gelu("half of both terms", [&](Net& n) {
    const std::string e = n.op("Erf", {n.op("Div", {"x", n.constant(kRoot)})});
    const std::string h = n.op("Mul", {e, n.constant(0.5f)});
    n.op("Mul", {"x", n.op("Add", {h, n.constant(0.5f)})});
  });
  gelu("with casts", [&](Net& n) {
    const auto cast = [&](const std::string& from) {
      const std::string to = n.op("Cast", {from});
      OnnxBuilder::attribute(n.last(), "to", proto::TensorProto::FLOAT);
      return to;
    };
    const std::string t = tail(n, cast(n.op("Div", {"x", n.constant(kRoot)})));
    n.op("Mul", {n.op("Mul", {"x", cast(t)}), n.constant(0.5f)});
  });
}

TEST(WrittenOut, GeluByTanhIsOneLayer) {
  const float root = 0.7978845608f;
  const auto gelu = [](const char* what, auto&& inner) {
    Net net({2, 9, 4});
    const std::string t = net.op("Add", {net.op("Tanh", {inner(net)}), net.constant(1)});
    net.op("Mul", {net.op("Mul", {"x", net.constant(0.5f)}), t});
    expect_read_as(net, {"GeluTanh"}, what);
  };
  const auto scaled = [&](Net& n, const std::string& cube) {
    const std::string c = n.op("Mul", {cube, n.constant(0.044715f)});
    return n.op("Mul", {n.op("Add", {"x", c}), n.constant(root)});
  };
  gelu("a power", [&](Net& n) { return scaled(n, n.op("Pow", {"x", n.constant(3)})); });
  gelu("products", [&](Net& n) { return scaled(n, n.op("Mul", {n.op("Mul", {"x", "x"}), "x"})); });
  gelu("factored", [&](Net& n) {
    const std::string a = n.op("Mul", {"x", n.constant(0.044715f)});
    const std::string b = n.op("Add", {n.op("Mul", {a, "x"}), n.constant(1)});
    return n.op("Mul", {n.op("Mul", {"x", n.constant(root)}), b});
  });
}

TEST(WrittenOut, HardGatesAreOneLayer) {
  const auto clipped = [](Net& n, float shift, float top) {
    const std::string moved = n.op("Add", {"x", n.constant(shift)});
    return n.op("Clip", {moved, n.constant(0), n.constant(top)});
  };
  const auto read = [](const char* what, const char* as, auto&& write) {
    Net net({1, 6, 5, 7});
    write(net);
    expect_read_as(net, {as}, what);
  };
  read("the product by six", "HardSwish", [&](Net& n) {
    n.op("Div", {n.op("Mul", {"x", clipped(n, 3, 6)}), n.constant(6)});
  });
  read("the gate by six", "HardSwish", [&](Net& n) {
    n.op("Mul", {n.op("Div", {clipped(n, 3, 6), n.constant(6)}), "x"});
  });
  read("a sixth of x first", "HardSwish", [&](Net& n) {
    const std::string sixth = n.op("Mul", {"x", n.constant(1.0f / 6)});
    n.op("Mul", {sixth, clipped(n, 3, 6)});
  });
  read("clipped to one", "HardSwish", [&](Net& n) {
    const std::string sixth = n.op("Div", {"x", n.constant(6)});
    const std::string moved = n.op("Add", {n.constant(0.5f), sixth});
    n.op("Mul", {"x", n.op("Clip", {moved, n.constant(0), n.constant(1)})});
  });
  read("by HardSigmoid", "HardSwish", [&](Net& n) {
    const std::string gate = n.op("HardSigmoid", {"x"});
    Net::number(n.last(), "alpha", 1.0f / 6);
    n.op("Mul", {gate, "x"});
  });
  read("the gate by itself", "HardSigmoid", [&](Net& n) {
    n.op("Div", {clipped(n, 3, 6), n.constant(6)});
  });
  read("Keras's gate", "HardSigmoid", [&](Net& n) {
    const std::string moved = n.op("Add", {n.op("Mul", {"x", n.constant(0.2f)}), n.constant(0.5f)});
    n.op("Clip", {moved, n.constant(0), n.constant(1)});
  });
  read("sigmoid", "Silu", [&](Net& n) { n.op("Mul", {n.op("Sigmoid", {"x"}), "x"}); });
}

TEST(WrittenOut, PatternsThatDifferFromAFunctionAreLeftAlone) {
  const auto left = [](const char* what, auto&& write) {
    Net net({1, 6, 5, 7});
    write(net);
    expect_read_as_written(net, what);
  };
  const auto gelu = [](Net& n, float root, float one, float half) {
    const std::string e = n.op("Erf", {n.op("Div", {"x", n.constant(root)})});
    const std::string t = n.op("Add", {e, n.constant(one)});
    return n.op("Mul", {n.op("Mul", {"x", t}), n.constant(half)});
  };
  left("another root", [&](Net& n) { gelu(n, 1.4f, 1, 0.5f); });
  left("another one", [&](Net& n) { gelu(n, kRoot, 1.1f, 0.5f); });
  left("another half", [&](Net& n) { gelu(n, kRoot, 1, 0.6f); });
  left("erf of another value", [&](Net& n) {
    const std::string e = n.op("Erf", {n.op("Div", {"x", n.constant(kRoot)})});
    const std::string t = n.op("Add", {e, n.constant(1)});
    const std::string other = n.op("Sin", {"x"});
    n.op("Mul", {n.op("Mul", {other, t}), n.constant(0.5f)});
  });
  left("a constant a channel", [&](Net& n) {
    const std::string e = n.op("Erf", {n.op("Div", {"x", n.drawn({6, 1, 1})})});
    const std::string t = n.op("Add", {e, n.constant(1)});
    n.op("Mul", {n.op("Mul", {"x", t}), n.constant(0.5f)});
  });
  const auto hard = [](Net& n, float shift, float top, float by) {
    const std::string moved = n.op("Add", {"x", n.constant(shift)});
    const std::string c = n.op("Clip", {moved, n.constant(0), n.constant(top)});
    n.op("Div", {n.op("Mul", {"x", c}), n.constant(by)});
  };
  left("another shift", [&](Net& n) { hard(n, 2.5f, 6, 6); });
  left("another top", [&](Net& n) { hard(n, 3, 5, 6); });
  left("another divisor", [&](Net& n) { hard(n, 3, 6, 5); });
  left("sigmoid of another slope", [&](Net& n) {
    n.op("Mul", {"x", n.op("Sigmoid", {n.op("Mul", {"x", n.constant(1.702f)})})});
  });
  left("another HardSigmoid", [&](Net& n) { n.op("Mul", {"x", n.op("HardSigmoid", {"x"})}); });
}

TEST(WrittenOut, TensorsWithOtherConsumersStay) {
  Net net({1, 6, 5, 7});
  const std::string gate = net.op("Sigmoid", {"x"});
  const std::string silu = net.op("Mul", {"x", gate});
  net.op("Mul", {silu, net.op("Sin", {gate})});
  net.output(net.last().output(0));
  EXPECT_EQ(layers_of(onnx::import_model(net.write())), (Layers{"Sigmoid", "Mul", "Sin", "Mul"}));
}

/// The tensors of a LayerNorm that PyTorch writes before opset 17, up to the quotient.
struct Normalized {
  std::string mean, difference, square, variance, quotient;
};

Normalized normalized(Net& n, const std::string& x, const std::vector<std::int64_t>& axes,
                      const std::vector<std::int64_t>& then) {
  Normalized names;
  names.mean = n.op("ReduceMean", {x}, "axes", axes);
  names.difference = n.op("Sub", {x, names.mean});
  names.square = n.op("Pow", {names.difference, n.constant(2)});
  names.variance = n.op("ReduceMean", {names.square}, "axes", then);
  const std::string sum = n.op("Add", {names.variance, n.constant(1e-6f)});
  names.quotient = n.op("Div", {names.difference, n.op("Sqrt", {sum})});
  return names;
}

TEST(WrittenOut, LayerNormIsOneLayer) {
  const auto read = [](const char* what, const std::vector<std::int64_t>& dims, auto&& write) {
    Net net(dims);
    write(net);
    expect_read_as(net, {"Normalization"}, what);
  };
  read("bare", {2, 5, 8}, [](Net& n) { normalized(n, "x", {-1}, {2}); });
  read("scale and bias", {2, 5, 8}, [](Net& n) {
    const std::string y = normalized(n, "x", {-1}, {-1}).quotient;
    n.op("Add", {n.drawn({8}), n.op("Mul", {y, n.drawn({8})})});
  });
  read("a bias only, two axes", {2, 5, 8}, [](Net& n) {
    n.op("Add", {normalized(n, "x", {1, 2}, {1, 2}).quotient, n.drawn({5, 8})});
  });
  read("of an image", {2, 3, 4, 5}, [](Net& n) {
    const std::string y = normalized(n, "x", {2, 3}, {2, 3}).quotient;
    n.op("Mul", {y, n.drawn({3, 1, 1})});
  });
  read("squares as products, 1 / root as a factor", {3, 7}, [](Net& n) {
    const std::string d = n.op("Sub", {"x", n.op("ReduceMean", {"x"}, "axes", {1})});
    const std::string v = n.op("ReduceMean", {n.op("Mul", {d, d})}, "axes", {1});
    const std::string root = n.op("Sqrt", {n.op("Add", {n.constant(1e-5f), v})});
    n.op("Mul", {n.op("Reciprocal", {root}), d});
  });
}

// ConvNeXt and Swin normalize the channels of images, which are innermost already.
TEST(WrittenOut, LayerNormOfChannelsMovesNothing) {
  Net net({2, 6, 3, 4});
  const std::string last = net.op("Transpose", {"x"}, "perm", {0, 2, 3, 1});
  const std::string y = normalized(net, last, {3}, {3}).quotient;
  const std::string scaled = net.op("Mul", {y, net.drawn({6})});
  net.op("Transpose", {net.op("Add", {scaled, net.drawn({6})})}, "perm", {0, 3, 1, 2});
  expect_read_as(net, {"Normalization"}, "channels");
  Net newer({2, 6, 3, 4});
  newer.model.mutable_opset_import(0)->set_version(17);
  const std::string turned = newer.op("Transpose", {"x"}, "perm", {0, 2, 3, 1});
  newer.op("LayerNormalization", {turned, newer.drawn({6}), newer.drawn({6})});
  newer.output(newer.last().output(0));
  EXPECT_EQ(layers_of(onnx::import_model(newer.write())).front(), "Normalization");
}

TEST(WrittenOut, PatternsThatDifferFromLayerNormAreLeftAlone) {
  const auto left = [](const char* what, auto&& write) {
    Net net({2, 5, 8});
    write(net);
    expect_read_as_written(net, what);
  };
  left("two axes", [](Net& n) { normalized(n, "x", {2}, {1}); });
  const auto other = [](Net& n, const char* mean, float power, const char* operation) {
    const std::string m = n.op(mean, {"x"}, "axes", {2});
    const std::string d = n.op("Sub", {"x", m});
    const std::string s = n.op("Pow", {d, n.constant(power)});
    const std::string v = n.op("ReduceMean", {s}, "axes", {2});
    const std::string sum = n.op(operation, {v, n.constant(0.5f)});
    n.op("Div", {d, n.op("Sqrt", {sum})});
  };
  left("not the mean", [&](Net& n) { other(n, "ReduceMax", 2, "Add"); });
  left("not squares", [&](Net& n) { other(n, "ReduceMean", 4, "Add"); });
  left("not added", [&](Net& n) { other(n, "ReduceMean", 2, "Mul"); });
  left("the mean of something else", [](Net& n) {
    const std::string m = n.op("ReduceMean", {n.op("Sin", {"x"})}, "axes", {2});
    const std::string d = n.op("Sub", {"x", m});
    const std::string s = n.op("Pow", {d, n.constant(2)});
    const std::string v = n.op("ReduceMean", {s}, "axes", {2});
    n.op("Div", {d, n.op("Sqrt", {n.op("Add", {v, n.constant(1)})})});
  });
  left("the variance is read by another", [](Net& n) {
    const Normalized names = normalized(n, "x", {2}, {2});
    n.op("Add", {names.quotient, names.variance});
  });
  // A scale that broadcasts the output is no parameter.
  Net net({1, 1, 8});
  net.op("Mul", {normalized(net, "x", {2}, {2}).quotient, net.drawn({5, 8})});
  expect_read_as(net, {"Normalization", "Mul"}, "a scale of more rows");
}

}  // namespace
}  // namespace hios::test
