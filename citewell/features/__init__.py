"""One folder per noun: endpoints → service → repository, never back."""
