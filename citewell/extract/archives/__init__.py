"""The members of archives: their names made harmless, their bytes unpacked within limits."""
