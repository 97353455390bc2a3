"""What each address takes: one row per route. A route without a row answers nothing, and no request passes the table by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from citewell.types.accounts import AccessScope


class Reach(Enum):
    """What of an owner's files a route may touch, which decides how credentials for some projects are kept to those."""

    PUBLIC = "needs no credential, or looks for one itself"
    NOTHING = "touches no files"
    RESOURCE = "touches the file in its path, which must be in one of the projects"
    PROJECT = "touches the project in its path, which must be one of them"
    NARROWED = "touches what the request names, which the endpoint narrows to the projects"
    EVERYTHING = "touches all that the owner has: closed to credentials for some projects"


@dataclass(frozen=True, slots=True)
class Access:
    """What a credential must be good for to use a route. scope: None for public routes."""

    scope: AccessScope | None
    reach: Reach


_READ, _WRITE, _ASK, _ADMIN = AccessScope.READ, AccessScope.WRITE, AccessScope.ASK, AccessScope.ADMIN
_ROWS: tuple[tuple[str, str, AccessScope | None, Reach], ...] = (
    ("GET", "/health", None, Reach.PUBLIC),
    ("GET", "/ready", _READ, Reach.NOTHING),
    ("GET", "/doctor", _ADMIN, Reach.NOTHING),
    ("GET", "/metrics", _ADMIN, Reach.EVERYTHING),
    # accounts
    ("GET", "/session", None, Reach.PUBLIC),
    ("POST", "/session", None, Reach.PUBLIC),
    ("DELETE", "/session", None, Reach.PUBLIC),
    ("POST", "/session/password", None, Reach.PUBLIC),
    ("POST", "/session/refresh", None, Reach.PUBLIC),
    ("POST", "/session/openid", None, Reach.PUBLIC),
    ("GET", "/session/openid", None, Reach.PUBLIC),
    ("POST", "/account", None, Reach.PUBLIC),
    ("POST", "/account/password-reset", None, Reach.PUBLIC),
    ("POST", "/account/password", None, Reach.PUBLIC),
    ("GET", "/account", _READ, Reach.NOTHING),
    ("PATCH", "/account", _ADMIN, Reach.EVERYTHING),
    ("POST", "/account/identity", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/account/identity", _ADMIN, Reach.EVERYTHING),
    ("GET", "/account/sessions", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/account/sessions", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/account/sessions/{session_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/people", _ADMIN, Reach.EVERYTHING),
    ("PATCH", "/people/{person_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/people/{person_id}/quotas", _ADMIN, Reach.EVERYTHING),
    ("PUT", "/people/{person_id}/quotas", _ADMIN, Reach.EVERYTHING),
    ("GET", "/shared-projects", _READ, Reach.NOTHING),
    ("DELETE", "/shared-projects/{project_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/projects/{project_id}/members", _ADMIN, Reach.PROJECT),
    ("PUT", "/projects/{project_id}/members/{member_id}", _ADMIN, Reach.PROJECT),
    ("DELETE", "/projects/{project_id}/members/{member_id}", _ADMIN, Reach.PROJECT),
    ("GET", "/invitations", _ADMIN, Reach.EVERYTHING),
    ("POST", "/invitations", _ADMIN, Reach.EVERYTHING),
    ("POST", "/invitations/accept", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/invitations/{invitation_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/tokens", _ADMIN, Reach.EVERYTHING),
    ("POST", "/tokens", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/tokens/{token_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/service-accounts", _ADMIN, Reach.EVERYTHING),
    ("POST", "/service-accounts", _ADMIN, Reach.EVERYTHING),
    ("PATCH", "/service-accounts/{account_id}", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/service-accounts/{account_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/service-accounts/{account_id}/keys", _ADMIN, Reach.EVERYTHING),
    ("POST", "/service-accounts/{account_id}/keys", _ADMIN, Reach.EVERYTHING),
    ("POST", "/service-accounts/{account_id}/keys/{key_id}/rotation", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/service-accounts/{account_id}/keys/{key_id}", _ADMIN, Reach.EVERYTHING),
    # files
    ("POST", "/ingest", _WRITE, Reach.NARROWED),
    ("POST", "/ingest/estimate", _WRITE, Reach.NARROWED),
    ("POST", "/records", _WRITE, Reach.EVERYTHING),
    ("POST", "/samples", _WRITE, Reach.EVERYTHING),
    ("GET", "/resources", _READ, Reach.NARROWED),
    ("GET", "/resources/facets", _READ, Reach.NARROWED),
    ("GET", "/resources/{resource_id}", _READ, Reach.RESOURCE),
    ("PATCH", "/resources/{resource_id}", _WRITE, Reach.RESOURCE),
    ("DELETE", "/resources/{resource_id}", _WRITE, Reach.RESOURCE),
    ("PUT", "/resources/{resource_id}/file", _WRITE, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/file", _READ, Reach.RESOURCE),
    ("POST", "/resources/{resource_id}/link", _READ, Reach.RESOURCE),
    ("POST", "/resources/{resource_id}/reindex", _WRITE, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/elements", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/chunks", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/chunks/{chunk_id}", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/events", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/blobs", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/blobs/{name:path}", _READ, Reach.RESOURCE),
    ("POST", "/resources/{resource_id}/picture", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/tables/{table_id}/rows", _READ, Reach.RESOURCE),
    ("GET", "/resources/{resource_id}/tables/{table_id}/spread", _READ, Reach.RESOURCE),
    ("POST", "/reindex", _WRITE, Reach.EVERYTHING),
    ("GET", "/reindex", _READ, Reach.EVERYTHING),
    ("GET", "/reindex/{run_id}", _READ, Reach.EVERYTHING),
    ("GET", "/sources", _READ, Reach.EVERYTHING),
    ("PUT", "/sources/{name}", _WRITE, Reach.EVERYTHING),
    ("GET", "/sources/{name}", _READ, Reach.EVERYTHING),
    ("DELETE", "/sources/{name}", _WRITE, Reach.EVERYTHING),
    ("POST", "/sources/{name}/runs", _WRITE, Reach.EVERYTHING),
    ("GET", "/sources/{name}/items", _READ, Reach.EVERYTHING),
    ("POST", "/sources/{name}/items", _WRITE, Reach.EVERYTHING),
    ("POST", "/sources/{name}/problems", _WRITE, Reach.EVERYTHING),
    ("POST", "/sources/{name}/removals", _WRITE, Reach.EVERYTHING),
    # projects
    ("GET", "/projects", _READ, Reach.NARROWED),
    ("POST", "/projects", _WRITE, Reach.EVERYTHING),
    ("GET", "/projects/{project_id}", _READ, Reach.PROJECT),
    ("PATCH", "/projects/{project_id}", _ADMIN, Reach.PROJECT),
    ("DELETE", "/projects/{project_id}", _ADMIN, Reach.PROJECT),
    # searching and asking
    ("POST", "/search", _READ, Reach.NARROWED),
    ("POST", "/citations/check", _READ, Reach.NARROWED),
    ("GET", "/suggestions", _READ, Reach.EVERYTHING),
    ("POST", "/chat", _ASK, Reach.NARROWED),
    ("POST", "/v1/chat/completions", _ASK, Reach.EVERYTHING),
    ("GET", "/v1/models", _READ, Reach.EVERYTHING),
    ("GET", "/v1/models/{model:path}", _READ, Reach.EVERYTHING),
    ("GET", "/threads", _READ, Reach.EVERYTHING),
    ("POST", "/threads", _ASK, Reach.EVERYTHING),
    ("GET", "/threads/{thread_id}", _READ, Reach.EVERYTHING),
    ("PATCH", "/threads/{thread_id}", _ASK, Reach.EVERYTHING),
    ("DELETE", "/threads/{thread_id}", _ASK, Reach.EVERYTHING),
    ("DELETE", "/threads/{thread_id}/messages/{message_id}", _ASK, Reach.EVERYTHING),
    ("PUT", "/threads/{thread_id}/messages/{message_id}/feedback", _ASK, Reach.EVERYTHING),
    ("GET", "/threads/{thread_id}/export", _READ, Reach.EVERYTHING),
    # a link lets strangers read: it is a credential itself, and who opens one needs no other
    ("POST", "/threads/{thread_id}/messages/{message_id}/share", _ADMIN, Reach.EVERYTHING),
    ("GET", "/shares", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/shares/{share_id}", _ADMIN, Reach.EVERYTHING),
    ("GET", "/shared-answers/{secret}", None, Reach.PUBLIC),
    # webhooks tell of everything; who calls a trigger has a secret of the trigger's own
    ("GET", "/webhooks", _ADMIN, Reach.EVERYTHING),
    ("POST", "/webhooks", _ADMIN, Reach.EVERYTHING),
    ("GET", "/webhooks/deliveries", _ADMIN, Reach.EVERYTHING),
    ("GET", "/webhooks/deliveries/{delivery_id}", _ADMIN, Reach.EVERYTHING),
    ("POST", "/webhooks/deliveries/{delivery_id}/replay", _ADMIN, Reach.EVERYTHING),
    ("GET", "/webhooks/{webhook_id}", _ADMIN, Reach.EVERYTHING),
    ("PATCH", "/webhooks/{webhook_id}", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/webhooks/{webhook_id}", _ADMIN, Reach.EVERYTHING),
    ("POST", "/webhooks/{webhook_id}/test", _ADMIN, Reach.EVERYTHING),
    ("POST", "/webhooks/{webhook_id}/replay", _ADMIN, Reach.EVERYTHING),
    ("GET", "/webhooks/incoming", _ADMIN, Reach.EVERYTHING),
    ("POST", "/webhooks/incoming", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/webhooks/incoming/{trigger_id}", _ADMIN, Reach.EVERYTHING),
    ("POST", "/webhooks/incoming/{trigger_id}/fetch", None, Reach.PUBLIC),
    ("POST", "/webhooks/incoming/{trigger_id}/chunk", None, Reach.PUBLIC),
    ("POST", "/webhooks/incoming/{trigger_id}/result", None, Reach.PUBLIC),
    # the server
    ("GET", "/usage", _READ, Reach.EVERYTHING),
    ("GET", "/quotas", _READ, Reach.EVERYTHING),
    ("GET", "/export", _ADMIN, Reach.EVERYTHING),
    ("GET", "/audit", _ADMIN, Reach.EVERYTHING),
    ("GET", "/audit/export", _ADMIN, Reach.EVERYTHING),
    ("POST", "/erasure", _ADMIN, Reach.EVERYTHING),
    ("GET", "/indexes", _READ, Reach.EVERYTHING),
    ("POST", "/indexes", _ADMIN, Reach.EVERYTHING),
    ("POST", "/indexes/estimate", _ADMIN, Reach.EVERYTHING),
    ("GET", "/indexes/{index_id}", _READ, Reach.EVERYTHING),
    ("PATCH", "/indexes/{index_id}", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/indexes/{index_id}", _ADMIN, Reach.EVERYTHING),
    ("POST", "/indexes/{index_id}/compare", _ADMIN, Reach.EVERYTHING),
    ("POST", "/indexes/{index_id}/switch", _ADMIN, Reach.EVERYTHING),
    ("GET", "/local-model", _READ, Reach.EVERYTHING),
    ("POST", "/local-model", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/local-model", _ADMIN, Reach.EVERYTHING),
    # a link lets a Telegram account read, ask and delete: it is a credential itself
    ("GET", "/telegram", _ADMIN, Reach.EVERYTHING),
    ("POST", "/telegram/codes", _ADMIN, Reach.EVERYTHING),
    ("DELETE", "/telegram/links/{user_id}", _ADMIN, Reach.EVERYTHING),
    # the tools for MCP clients, whose endpoint asks for this row itself
    ("POST", "/mcp", _READ, Reach.EVERYTHING),
)
ACCESS: Mapping[tuple[str, str], Access] = {
    (method, path): Access(scope, reach) for method, path, scope, reach in _ROWS
}
