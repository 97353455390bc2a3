"""Pictures of what was computed: which one a result makes, its Vega-Lite specification, and those that are asked for in words."""
