"""This machine: its environment, data folder, disk, terminal and threads."""
