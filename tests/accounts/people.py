"""People in browsers: each signs up at a server with accounts, and keeps the cookies and the proof that the page has."""

from __future__ import annotations

from typing import Any

import httpx

from tests.server.running import TLS

PASSWORD = "correct horse battery staple"
SESSION_SECRET = "6f1d0c9a7be84235b1f0e6d7c8a9034512de7788ab90cd34ef56017829bcade1"


class Browser:
    """One browser at a server: its cookies, and what its page sends along."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies = httpx.Cookies()
        self.owner = ""
        self._proof = ""

    def sign_up(self, email: str, password: str = PASSWORD, **more: Any) -> httpx.Response:
        return self._enter("/account", {"email": email, "password": password} | more)

    def sign_in(self, email: str, password: str = PASSWORD) -> httpx.Response:
        return self._enter("/session/password", {"email": email, "password": password})

    def refresh(self) -> httpx.Response:
        return self._enter("/session/refresh", {})

    def call(self, method: str, path: str, **request: Any) -> httpx.Response:
        headers = {"X-CSRF-Token": self._proof} | request.pop("headers", {})
        with httpx.Client(base_url=self.url, timeout=120, verify=TLS, cookies=self.cookies) as client:
            response = client.request(method, path, headers=headers, **request)
            self.cookies = client.cookies
        return response

    def get(self, path: str, **request: Any) -> httpx.Response:
        return self.call("GET", path, **request)

    def cookie(self, end: str) -> str:
        """The value of the cookie whose name ends so."""
        return next(cookie.value or "" for cookie in self.cookies.jar if cookie.name.endswith(end))

    @property
    def access_token(self) -> str:
        return self.cookie(self.url.rpartition(":")[2])

    @property
    def refresh_token(self) -> str:
        return self.cookie("_refresh")

    def keep(self, name_end: str, value: str) -> None:
        """Put back an earlier value of a cookie."""
        for cookie in self.cookies.jar:
            if cookie.name.endswith(name_end):
                cookie.value = value

    def _enter(self, path: str, body: dict[str, Any]) -> httpx.Response:
        response = self.call("POST", path, json=body)
        if response.is_success:
            self.owner, self._proof = response.json()["owner"], response.json()["csrf"]
        return response


def signed_up(url: str, email: str, **more: Any) -> Browser:
    """A browser whose user has just signed up."""
    browser = Browser(url)
    response = browser.sign_up(email, **more)
    assert response.status_code == 201, response.text
    return browser
