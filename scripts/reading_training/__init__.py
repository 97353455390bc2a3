"""What trains the reading model: the published weights, the questions, the network, and its steps."""
