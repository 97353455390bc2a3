"""What all steps of a turn share: its state, the tools, and the form of a step."""
