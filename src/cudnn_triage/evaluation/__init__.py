"""Measuring the tool on folders of labelled logs: accuracy, calibration, robustness, a statistical baseline, fitted numbers."""
