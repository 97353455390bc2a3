"""What trains the built-in scorer of readings: the questions with their answers, the network, and how its scores are joined."""
