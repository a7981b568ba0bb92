"""cudnn-triage: from a pasted GPU error to the confirmed root cause and the exact fix."""

__version__ = "0.1.0"
