"""Chat and vision models, on the integrations that LangChain maintains."""
