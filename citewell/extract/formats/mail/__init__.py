"""Messages and mailboxes of every format."""
