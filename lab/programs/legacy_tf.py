"""A script of the TensorFlow 1 days: it takes a session with memory growth before it builds its network."""

import tensorflow as tf

if __name__ == "__main__":
    print(tf.__version__)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    tf.keras.backend.set_session(tf.Session(config=config))
