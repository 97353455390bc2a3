"""The router class of every feature: a route cannot be defined without declaring its access and audit entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from fastapi import APIRouter, Depends

from citewell.features.declared import DECLARED, Access, Audited, Declared, NotAudited
from citewell.features.http import check_asks, known_parameters

P = ParamSpec("P")
T = TypeVar("T")


class Router(APIRouter):
    """A router whose routes declare `access=` and, if they change something or show content, `audit=`.

    is_lenient: accepts unknown query parameters, because chat clients, probes, identity providers, and browsers that follow a link
    add their own.
    """

    def __init__(self, *, is_lenient: bool = False, **options: Any) -> None:
        super().__init__(dependencies=[] if is_lenient else [Depends(known_parameters)], **options)

    def get(self, path: str, *, access: Access, audit: Audited | None = None, **options: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A route that changes nothing."""
        return self._declared("GET", path, Declared(access, audit), options)

    def post(self, path: str, *, access: Access, audit: Audited | NotAudited, **options: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A route that changes something, with its audit entry or the reason why it has none."""
        return self._declared("POST", path, Declared(access, audit), options)

    def put(self, path: str, *, access: Access, audit: Audited | NotAudited, **options: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `post`."""
        return self._declared("PUT", path, Declared(access, audit), options)

    def patch(self, path: str, *, access: Access, audit: Audited | NotAudited, **options: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `post`."""
        return self._declared("PATCH", path, Declared(access, audit), options)

    def delete(self, path: str, *, access: Access, audit: Audited | NotAudited, **options: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `post`."""
        return self._declared("DELETE", path, Declared(access, audit), options)

    def _declared(
        self, method: str, path: str, declared: Declared, options: Mapping[str, Any]
    ) -> Callable[[Callable[P, T]], Callable[P, T]]:
        define = self.api_route(path, methods=[method], **options)

        def decorate(endpoint: Callable[P, T]) -> Callable[P, T]:
            endpoint.__dict__.setdefault(DECLARED, {})[method, self.prefix + path] = declared
            defined = define(endpoint)
            check_asks(self.routes[-1], declared.access)
            return defined

        return decorate
