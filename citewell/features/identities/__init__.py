"""Signing in with an identity provider (OpenID Connect)."""

ADDRESSES = ("/session", "/account")
