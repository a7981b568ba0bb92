"""Renderings of a report, each made from the report alone."""
