"""Project members, and invitations."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Forbidden, NotFound
from citewell.storage.accounts.owners import hash_token
from citewell.storage.accounts.people import join_project, use_invitation
from citewell.storage.accounts.tables import invitations, may_act, memberships, people, service_accounts
from citewell.storage.database import Database, upsert
from citewell.storage.tables import owners, projects, resource_projects
from citewell.types.accounts import Invitation, ProjectMember, Role, SharedProject


class MemberRepository:
    """Members of projects. A member's own access is looked up by the id in the credential."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def shared_with(self, member_id: str) -> list[SharedProject]:
        """Returns the projects shared with a member, oldest first."""
        return await self._shared(_memberships(member_id))

    async def holding(self, member_id: str, resource_id: str) -> list[SharedProject]:
        """Returns the projects shared with a member that contain a file."""
        inside = sa.select(resource_projects.c.project_id).where(resource_projects.c.resource_id == resource_id)
        return await self._shared(_memberships(member_id).where(projects.c.id.in_(inside)))

    async def readable(self, member_id: str, resource_ids: Sequence[str]) -> set[str]:
        """Returns which of these files are in projects shared with a member."""
        shared = sa.select(memberships.c.project_id).where(memberships.c.member_id == member_id)
        query = sa.select(resource_projects.c.resource_id).where(
            resource_projects.c.resource_id.in_(resource_ids), resource_projects.c.project_id.in_(shared)
        )
        return {row["resource_id"] for row in await self._database.rows(query)}

    async def all(self, owner_id: str, project_id: str) -> list[ProjectMember]:
        """Returns the members of the owner's project, oldest first; none for another owner's."""
        shown = sa.func.coalesce(people.c.name, service_accounts.c.name, owners.c.name).label("name")
        query = (
            sa.select(memberships, shown, service_accounts.c.id.is_not(None).label("is_service"))
            .join(projects, projects.c.id == memberships.c.project_id)
            .join(owners, owners.c.id == memberships.c.member_id)
            .outerjoin(people, people.c.owner_id == memberships.c.member_id)
            .outerjoin(service_accounts, service_accounts.c.acts_as == memberships.c.member_id)
            .where(projects.c.owner_id == owner_id, projects.c.id == project_id)
            .order_by(memberships.c.created_at)
        )
        return [
            ProjectMember(
                project_id=project_id,
                owner_id=row["member_id"],
                role=Role(row["role"]),
                name=row["name"],
                created_at=row["created_at"],
                is_service=row["is_service"],
            )
            for row in await self._database.rows(query)
        ]

    async def set_role(self, owner_id: str, project_id: str, member_id: str, role: Role) -> None:
        """Changes a member's role, or adds one of the owner's service accounts.

        Raises `NotFound` for another owner's project, and for anyone else.
        """
        mine = (service_accounts.c.owner_id == owner_id, service_accounts.c.acts_as == member_id)
        change = sa.update(memberships).where(*_of(owner_id, project_id, member_id)).values(role=role.value)
        async with self._database.write() as connection:
            if (await connection.execute(change)).rowcount:
                return
            if await connection.scalar(sa.select(service_accounts.c.id).where(*mine)) is None:
                raise NotFound
            await _require_own(connection, owner_id, project_id)
            leave = {memberships.c.project_id: project_id, memberships.c.member_id: member_id}
            values = {memberships.c.role: role.value, memberships.c.created_at: time.time()}
            await upsert(connection, leave | values, {memberships.c.role: role.value})

    async def remove(self, owner_id: str, project_id: str, member_id: str) -> None:
        """Removes a member. Raises `NotFound` for another owner's project, or if they are not a member."""
        await self._change(sa.delete(memberships).where(*_of(owner_id, project_id, member_id)))

    async def leave(self, member_id: str, project_id: str) -> None:
        """Ends the caller's membership in another owner's project."""
        mine = (memberships.c.member_id == member_id, memberships.c.project_id == project_id)
        await self._change(sa.delete(memberships).where(*mine))

    async def _change(self, statement: sa.Update | sa.Delete) -> None:
        async with self._database.write() as connection:
            if not (await connection.execute(statement)).rowcount:
                raise NotFound

    async def _shared(self, query: sa.Select[*tuple[object, ...]]) -> list[SharedProject]:
        return [
            SharedProject(
                id=row["id"],
                name=row["name"],
                owner_id=row["owner_id"],
                owner_name=row["owner_name"],
                role=Role(row["role"]),
            )
            for row in await self._database.rows(query)
        ]


class InvitationRepository:
    """Single-use invitations, stored as hashes of their secrets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        owner_id: str,
        seconds: float,
        email: str | None,
        project_id: str | None,
        role: Role | None,
        made_with: str | None = None,
    ) -> tuple[Invitation, str]:
        """Creates an invitation, which ends with the token `made_with` if given; returns it with its secret.

        Raises `NotFound` for a project that is not the owner's.
        """
        now, secret = time.time(), secrets.token_urlsafe(32)
        made = Invitation(
            id=str(uuid.uuid4()),
            invited_by=owner_id,
            email=email,
            project_id=project_id,
            role=role,
            created_at=now,
            expires_at=now + seconds,
        )
        async with self._database.write() as connection:
            if project_id is not None:
                await _require_own(connection, owner_id, project_id)
            await connection.execute(
                sa.insert(invitations).values(
                    id=made.id,
                    invited_by=owner_id,
                    token_hash=hash_token(secret),
                    email=email,
                    project_id=project_id,
                    role=role and role.value,
                    created_at=now,
                    expires_at=made.expires_at,
                    made_with=made_with,
                )
            )
        return made, secret

    async def all(self, owner_id: str) -> list[Invitation]:
        """Returns the owner's invitations that are still valid, newest first."""
        query = (
            sa.select(invitations)
            .where(
                invitations.c.invited_by == owner_id,
                invitations.c.used_at.is_(None),
                invitations.c.expires_at > time.time(),
                may_act(invitations.c.invited_by, invitations.c.made_with),
            )
            .order_by(invitations.c.created_at.desc())
        )
        return [
            Invitation(
                id=row["id"],
                invited_by=row["invited_by"],
                email=row["email"],
                project_id=row["project_id"],
                role=row["role"] and Role(row["role"]),
                created_at=row["created_at"],
                expires_at=row["expires_at"],
            )
            for row in await self._database.rows(query)
        ]

    async def revoke(self, owner_id: str, invitation_id: str) -> None:
        """Revokes an invitation. Raises `NotFound` for another owner's."""
        mine = (
            invitations.c.id == invitation_id,
            invitations.c.invited_by == owner_id,
            invitations.c.used_at.is_(None),
        )
        async with self._database.write() as connection:
            if not (await connection.execute(sa.delete(invitations).where(*mine))).rowcount:
                raise NotFound

    async def accept(self, member_id: str, email: str, secret: str) -> None:
        """Accepts a project invitation for a person with an account.

        Raises `Forbidden` if it is not valid or not for them.
        """
        now = time.time()
        async with self._database.write() as connection:
            leave = await use_invitation(connection, secret, email, now)
            if leave is None:
                raise Forbidden("This invitation is no longer valid, or not for your e-mail address.")
            if leave["project_id"] is not None and leave["invited_by"] != member_id:
                await join_project(connection, leave, member_id, now)


def _memberships(member_id: str) -> sa.Select[*tuple[object, ...]]:
    called = people.c.name.label("owner_name")
    joined = (
        sa.select(projects.c.id, projects.c.name, projects.c.owner_id, memberships.c.role, called)
        .join(memberships, memberships.c.project_id == projects.c.id)
        .outerjoin(people, people.c.owner_id == projects.c.owner_id)
    )
    return joined.where(memberships.c.member_id == member_id).order_by(memberships.c.created_at)


def _of(owner_id: str, project_id: str, member_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    own = sa.select(projects.c.id).where(projects.c.id == project_id, projects.c.owner_id == owner_id)
    return memberships.c.project_id.in_(own), memberships.c.member_id == member_id


async def _require_own(connection: AsyncConnection, owner_id: str, project_id: str) -> None:
    own = sa.select(projects.c.id).where(projects.c.id == project_id, projects.c.owner_id == owner_id)
    if await connection.scalar(own) is None:
        raise NotFound("The project does not exist, or you have no access to it.")
