"""Probes: small programs that look at a machine, each in a process of its own, and what they say as typed facts."""
