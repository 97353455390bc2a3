"""The parts of `train_table_reader.py`: sketches of queries, questions with what is to be read of them, and the network."""
