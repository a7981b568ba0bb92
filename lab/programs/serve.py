"""Serve a small ONNX model with ONNX Runtime; 'gpu' refuses to serve from the CPU."""

import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

if __name__ == "__main__":
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 3, 3, 3], np.ones(108, np.float32))
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="Conv_0")],
        "detector",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 30, 30])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    print("onnxruntime", ort.__version__, ort.get_device(), ort.get_available_providers())
    wanted = ["CUDAExecutionProvider"] * ("gpu" in sys.argv) + ["CPUExecutionProvider"]
    session = ort.InferenceSession(model.SerializeToString(), providers=wanted)
    print("session uses", session.get_providers())
    if "gpu" in sys.argv and "CUDAExecutionProvider" not in session.get_providers():
        raise RuntimeError("GPU provider was not activated, refusing to serve")
    print("output", session.run(None, {"x": np.zeros((1, 3, 32, 32), np.float32)})[0].shape)
