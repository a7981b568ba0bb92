"""Fit a small Keras network; 'gpu' pins it to the first GPU, 'serious' refuses to train without one."""

import sys

import numpy as np
import tensorflow as tf

if __name__ == "__main__":
    print("tensorflow", tf.__version__)
    if "serious" in sys.argv:
        gpus = tf.config.list_physical_devices("GPU")
        print("Num GPUs Available:", len(gpus))
        if not gpus:
            raise SystemExit("no GPU found: this would train for weeks")
    tf.config.set_soft_device_placement(False)
    with tf.device("/GPU:0" if "gpu" in sys.argv else "/CPU:0"):
        model = tf.keras.Sequential(
            [tf.keras.layers.Conv2D(8, 3, input_shape=(16, 16, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)]
        )
        model.compile("adam", "mse")
        images = np.random.rand(64, 16, 16, 3).astype("float32")
        model.fit(images, images.mean((1, 2))[:, :2], epochs=2, batch_size=16, verbose=2)
