"""A script of TensorFlow 1 runs under TensorFlow 2."""

from lab.fault import Fault

FAULT = Fault(
    breaks="tf.ConfigProto and tf.Session are asked of TensorFlow 2",
    cause="api-removed",
    environment="tf-cpu",
    program=("python", "legacy_tf.py"),
    inject=lambda world: None,
    mended="the script has to be changed",
    settled=False,
    ci=True,
    stack="tensorflow",
)
