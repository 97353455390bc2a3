"""What trains the built-in reader: the questions, the network, and the steps."""
