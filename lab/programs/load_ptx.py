"""Load a kernel in PTX form through the driver, as libraries with embedded PTX do; NEW=1 marks it as made by a later toolkit."""

import ctypes
import os

KERNEL = """.version {version}
.target sm_75
.address_size 64
.visible .entry nothing()
{{
    ret;
}}
"""


def check(driver, status, what):
    """Print the driver's own words for a status and stop."""
    if status:
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        driver.cuGetErrorName(status, ctypes.byref(name))
        driver.cuGetErrorString(status, ctypes.byref(text))
        raise SystemExit(f"{what} failed: {name.value.decode()} ({status}): {text.value.decode()}")


if __name__ == "__main__":
    driver = ctypes.CDLL("libcuda.so.1")
    check(driver, driver.cuInit(0), "cuInit")
    device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    check(driver, driver.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(driver, driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(driver, driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    code = KERNEL.format(version="9.9" if os.environ.get("NEW") == "1" else "7.0").encode()
    check(driver, driver.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p(code)), "cuModuleLoadData")
    print("kernel loaded")
