"""The faults, one file each; each defines FAULT."""
