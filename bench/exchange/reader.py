"""Reads a network, its partition file and its copy with devices by the onnx package and ONNX Runtime; prints JSON. Runs in the
Python of bench/exchange.sh."""

import json
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
import onnxruntime


def session(file, partition=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 2, 4
    if partition:
        options.add_session_config_entry("session.node_partition_config_file", str(partition))
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def outputs(opened):
    (source,) = opened.get_inputs()
    values = numpy.random.default_rng(1).random(source.shape, dtype=numpy.float32)
    return opened.run(None, {source.name: values})


def refuses_less(file, partition):
    """True if a session refuses the partition without its last node: a file that is ignored would be accepted."""
    content = json.loads(Path(partition).read_text())
    content["streams"][-1].pop()
    with tempfile.TemporaryDirectory() as folder:
        less = Path(folder) / "less.cfg"
        less.write_text(json.dumps(content))
        try:
            session(file, less)
        except Exception:
            return True
    return False


def device_of(node, configuration):
    """The device of all tensors of a node."""
    (mine,) = [each for each in node.device_configurations if each.configuration_id == configuration]
    (device,) = {tuple(each.device) for each in mine.sharding_spec}
    assert {each.tensor_name for each in mine.sharding_spec} == {each for each in [*node.input, *node.output] if each}
    return device[0]


def streams_of_devices(model, content):
    """True if no stream has nodes of two devices."""
    devices = {node.name: device_of(node, model.configuration[0].name) for node in model.graph.node}
    return all(len({devices[name] for name in stream}) == 1 for stream in content["streams"])


def main(net, partition, with_devices):
    onnx.checker.check_model(with_devices, full_check=True)
    model, content = onnx.load(with_devices), json.loads(Path(partition).read_text())
    (configuration,) = model.configuration
    devices = [device_of(node, configuration.name) for node in model.graph.node]
    assert configuration.num_devices == len(configuration.device) > max(devices)
    assert streams_of_devices(model, content)
    assert refuses_less(net, partition)
    plain = outputs(session(net))
    same = all(all(numpy.array_equal(a, b) for a, b in zip(plain, outputs(other)))
               for other in (session(net, partition), session(with_devices)))
    print(json.dumps({"nodes": len(devices), "nodes_of_devices": [devices.count(d) for d in range(configuration.num_devices)],
                      "streams": len(content["streams"]), "same_bits": same, "onnx": onnx.__version__,
                      "onnxruntime": onnxruntime.__version__}))


if __name__ == "__main__":
    main(*sys.argv[1:])
