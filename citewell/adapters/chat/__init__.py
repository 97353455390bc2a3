"""Chat and vision models, built on LangChain's integrations."""
