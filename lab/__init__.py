"""The laboratory: faults made on purpose in scratch environments, and what cudnn-triage says of the programs that fail for them."""
