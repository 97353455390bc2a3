"""Headers that forbid browsers third-party requests, inline scripts and frames."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# `wasm-unsafe-eval` allows the PDF viewer's image decoders, and no scripts. Styles set by scripts through the DOM do not count as inline.
PAGE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "media-src 'self'",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
_HEADERS = {
    "Content-Security-Policy": _DATA_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_ENCODED = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in _HEADERS.items()]


class SecurityHeaders:
    """ASGI middleware: sets each header unless the response already has it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                set_already = {name.lower() for name, _ in given}
                message["headers"] = given + [header for header in _ENCODED if header[0] not in set_already]
            await send(message)

        await self._app(scope, receive, send_with_headers)
