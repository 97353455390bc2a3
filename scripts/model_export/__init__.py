"""The parts of `export_model.py`: weights, graph, calibration, quantisation."""
