"""The probe programs. They are not imported by the tool: their text is run by the interpreter under examination."""
