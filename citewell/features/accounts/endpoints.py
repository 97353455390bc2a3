"""HTTP for accounts: signing up, in and out, sessions, your account, and all accounts for administrators."""

from __future__ import annotations

from fastapi import Request, Response

from citewell.errors import Unauthorized, WrongCredentials
from citewell.features.accounts.resets import PasswordResetService
from citewell.features.accounts.schemas import (
    AcceptIn,
    AccountChange,
    InvitationIn,
    InvitationList,
    InvitationOut,
    MemberChange,
    MemberList,
    MemberOut,
    NewInvitation,
    PeopleList,
    PersonChange,
    PersonOut,
    ResetAskedIn,
    ResetIn,
    SharedProjectList,
    SharedProjectOut,
    SignedInList,
    SignedInOut,
    SignInIn,
    SignUpIn,
)
from citewell.features.accounts.service import AccountService, Entry, From
from citewell.features.addresses import host_name
from citewell.features.audited import record_of
from citewell.features.auth.cookies import check_own_page, end_session, refresh_token, set_refresh, set_session
from citewell.features.auth.schemas import SessionOut
from citewell.features.declared import ADMIN, PUBLIC, READ, changes, everything, not_audited, nothing, project
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner, address_of
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.settings.values import is_loopback
from citewell.types.audit import AuditAction

router = Router(tags=["accounts"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> AccountService:
    return request.app.state.services.accounts


def _resets(request: Request) -> PasswordResetService:
    return request.app.state.services.password_resets


def sender_of(request: Request) -> From:
    """The origin of a request."""
    address = address_of(request)
    is_here = is_loopback(address) and is_loopback(host_name(request.headers.get("host", "")))
    return From(agent=request.headers.get("user-agent", ""), address=address, is_here=is_here)


def set_cookies(request: Request, response: Response, entry: Entry) -> None:
    """Set the cookies of a session that was just started or renewed."""
    service = _service(request)
    record_of(request).signed_in(entry.person.owner_id, entry.signed_in.id)
    set_session(request, response, entry.access_token, service.access_seconds)
    set_refresh(request, response, entry.refresh_token, int(service.session_seconds))


def _signed_in(request: Request, response: Response, entry: Entry) -> SessionOut:
    """Set the browser's cookies, and return what the page needs."""
    set_cookies(request, response, entry)
    return SessionOut(
        signed_in=True,
        owner=entry.person.owner_id,
        csrf=entry.csrf,
        version=request.app.version,
        seconds=_service(request).access_seconds,
        person=entry.person.name,
        administrator=entry.person.is_administrator,
        accounts=True,
    )


@router.post("/account", access=PUBLIC, audit=changes(AuditAction.SIGNED_UP), status_code=201)
async def sign_up(request: Request, response: Response, body: SignUpIn) -> SessionOut:
    """Create an account, with an invitation unless sign-up is open, and sign in."""
    check_own_page(request)
    entry = await _service(request).sign_up(body.email, body.name, body.password, body.invitation, sender_of(request))
    return _signed_in(request, response, entry)


@router.post("/session/password", access=PUBLIC, audit=changes(AuditAction.SIGNED_IN))
async def sign_in_with_password(request: Request, response: Response, body: SignInIn) -> SessionOut:
    """Sign in with a password. The response sets two cookies that scripts cannot read."""
    check_own_page(request)
    service = _service(request)
    try:
        entry = await service.sign_in(body.email, body.password, sender_of(request))
    except WrongCredentials:
        record_of(request).refused(await service.owner_called(body.email), is_limited=True)
        raise
    return _signed_in(request, response, entry)


@router.post("/session/refresh", access=PUBLIC, audit=not_audited("an ongoing session is renewed every few minutes"))
async def refresh_session(request: Request, response: Response) -> SessionOut:
    """Stay signed in: exchange the cookies for new ones. Using a refresh token twice ends its session."""
    check_own_page(request)
    entry = await _service(request).refresh(refresh_token(request))
    if entry is None:
        raise Unauthorized("You are signed out. Sign in again.")
    return _signed_in(request, response, entry)


@router.post("/account/password-reset", access=PUBLIC, audit=changes(AuditAction.RESET_ASKED), status_code=202)
async def ask_for_reset(request: Request, body: ResetAskedIn) -> Response:
    """Send a link for setting a new password to an address. The response does not reveal whether an account has this address."""
    check_own_page(request)
    record_of(request).about(await _resets(request).ask(body.email, sender_of(request)))
    return Response(status_code=202)


@router.post("/account/password", access=PUBLIC, audit=changes(AuditAction.PASSWORD_RESET), status_code=204)
async def reset_password(request: Request, body: ResetIn) -> Response:
    """Set a new password with the secret of such a link, which works once. This signs you out everywhere."""
    check_own_page(request)
    person = await _resets(request).reset(body.reset, body.password, sender_of(request))
    record_of(request).about(person.owner_id)
    return Response(status_code=204)


@router.get("/account", access=nothing(READ))
async def get_account(request: Request, principal: CurrentPrincipal) -> PersonOut:
    """Your account."""
    return PersonOut.model_validate(await _service(request).person(principal))


@router.patch("/account", access=everything(ADMIN), audit=changes(AuditAction.ACCOUNT_CHANGED))
async def change_account(request: Request, body: AccountChange, principal: CurrentPrincipal) -> PersonOut:
    """Change your name or password. A new password signs you out everywhere else."""
    changed = await _service(request).change(principal, body.name, body.current_password, body.password)
    return PersonOut.model_validate(changed)


@router.get("/account/sessions", access=everything(ADMIN))
async def list_sessions(request: Request, principal: CurrentPrincipal) -> SignedInList:
    """Where you are signed in."""
    found = await _service(request).signed_in(principal)
    return SignedInList(sessions=[SignedInOut.of(one, principal.session_id) for one in found])


@router.delete(
    "/account/sessions", access=everything(ADMIN), audit=changes(AuditAction.SIGNED_OUT_EVERYWHERE), status_code=204
)
async def sign_out_everywhere(request: Request, principal: CurrentPrincipal) -> Response:
    """Sign out everywhere, within two seconds. Tokens stay valid: revoke them separately."""
    await _service(request).sign_out(principal, None)
    response = Response(status_code=204)
    if principal.session_id is not None:
        end_session(request, response, with_refresh=True)
    return response


@router.delete(
    "/account/sessions/{session_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.SIGNED_OUT, subject="session_id"),
    status_code=204,
)
async def sign_out_there(request: Request, session_id: str, principal: CurrentPrincipal) -> Response:
    """Sign out of one session."""
    await _service(request).sign_out(principal, session_id)
    return Response(status_code=204)


@router.get("/people", access=everything(ADMIN))
async def list_people(request: Request, principal: CurrentPrincipal) -> PeopleList:
    """All people with accounts, for administrators."""
    return PeopleList(people=[PersonOut.model_validate(one) for one in await _service(request).everybody(principal)])


@router.patch(
    "/people/{person_id}", access=everything(ADMIN), audit=changes(AuditAction.PERSON_CHANGED, subject="person_id")
)
async def change_person(request: Request, person_id: str, body: PersonChange, principal: CurrentPrincipal) -> PersonOut:
    """Suspend or reinstate a person, for administrators."""
    return PersonOut.model_validate(await _service(request).set_state(principal, person_id, body.state))


@router.post(
    "/invitations",
    access=everything(ADMIN),
    audit=changes(AuditAction.INVITATION_CREATED, answer="id"),
    status_code=201,
)
async def invite(request: Request, body: InvitationIn, principal: CurrentPrincipal) -> NewInvitation:
    """Invite a person to the server (administrators only) or to your project. The secret is shown only once."""
    made, secret = await _service(request).invite(principal, body.email, body.project, body.role, body.days)
    return NewInvitation(**InvitationOut.model_validate(made).model_dump(), invitation=secret)


@router.get("/invitations", access=everything(ADMIN))
async def list_invitations(request: Request, principal: CurrentPrincipal) -> InvitationList:
    """Your invitations that are still valid."""
    return InvitationList(
        invitations=[InvitationOut.model_validate(one) for one in await _service(request).invited(principal)]
    )


@router.post(
    "/invitations/accept", access=everything(ADMIN), audit=changes(AuditAction.INVITATION_ACCEPTED), status_code=204
)
async def accept_invitation(request: Request, body: AcceptIn, principal: CurrentPrincipal) -> Response:
    """Join the project in an invitation."""
    await _service(request).accept(principal, body.invitation)
    return Response(status_code=204)


@router.delete(
    "/invitations/{invitation_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.INVITATION_REVOKED, subject="invitation_id"),
    status_code=204,
)
async def take_invitation_back(request: Request, invitation_id: str, principal: CurrentPrincipal) -> Response:
    """Revoke an invitation."""
    await _service(request).take_back(principal, invitation_id)
    return Response(status_code=204)


@router.get("/projects/{project_id}/members", access=project(ADMIN))
async def list_members(request: Request, project_id: str, owner: Owner) -> MemberList:
    """The members of your project."""
    return MemberList(
        members=[MemberOut.model_validate(one) for one in await _service(request).members_of(owner, project_id)]
    )


@router.put(
    "/projects/{project_id}/members/{member_id}",
    access=project(ADMIN),
    audit=changes(AuditAction.MEMBER_CHANGED, subject="member_id"),
    status_code=204,
)
async def change_member(
    request: Request, project_id: str, member_id: str, body: MemberChange, owner: Owner
) -> Response:
    """Change a member's role, or add your service account as a member. Takes effect with the next request."""
    await _service(request).set_role(owner, project_id, member_id, body.role)
    return Response(status_code=204)


@router.delete(
    "/projects/{project_id}/members/{member_id}",
    access=project(ADMIN),
    audit=changes(AuditAction.MEMBER_REMOVED, subject="member_id"),
    status_code=204,
)
async def remove_member(request: Request, project_id: str, member_id: str, owner: Owner) -> Response:
    """Remove a member. Takes effect with the next request."""
    await _service(request).remove_member(owner, project_id, member_id)
    return Response(status_code=204)


@router.get("/shared-projects", access=nothing(READ))
async def list_shared_projects(request: Request, principal: CurrentPrincipal) -> SharedProjectList:
    """Projects that others share with you."""
    found = await _service(request).shared_with(principal)
    return SharedProjectList(projects=[SharedProjectOut.model_validate(one) for one in found])


@router.delete(
    "/shared-projects/{project_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.PROJECT_LEFT, subject="project_id"),
    status_code=204,
)
async def leave_project(request: Request, project_id: str, principal: CurrentPrincipal) -> Response:
    """Leave another owner's project."""
    await _service(request).leave(principal, project_id)
    return Response(status_code=204)
