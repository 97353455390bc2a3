"""Questions about whole documents: summaries, comparisons, everything on a topic, and exhaustive lists."""
