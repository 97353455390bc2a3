// Who else may use your projects: members with their roles, invitations, and what others share with you.
import { useQuery } from "@tanstack/react-query";
import { FolderOpen, Mail, Plus, UserRound } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { projectsQuery, queryClient, sharedProjectsQuery } from "../api/queries";
import { invitationLink } from "../api/session";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { switchTo } from "../workspace/switching";
import { invitationsQuery, membersQuery } from "./queries";
import { Secret } from "./Secret";
import { Section } from "./Section";

type Member = Schemas["MemberOut"];
type GivenRole = "viewer" | "editor";
const ROLES: readonly GivenRole[] = ["viewer", "editor"];

async function change(call: Promise<unknown>, ...key: string[]): Promise<void> {
  try {
    await call;
  } catch (error) {
    notifyError(error);
  }
  await queryClient.invalidateQueries({ queryKey: key });
}

export function MembersCard({ isAdministrator }: { isAdministrator: boolean }): ReactNode {
  const projects = useQuery(projectsQuery(null));
  const [chosen, setChosen] = useState<string | null>(null);
  const [isInviting, setInviting] = useState(false);
  const project = chosen ?? projects.data?.[0]?.id ?? "";
  return (
    <Section
      title={t.membersTitle}
      text={t.membersText}
      action={
        <Button small disabled={!project && !isAdministrator} onClick={() => setInviting(true)}>
          <Plus size={15} aria-hidden />
          {t.invite}
        </Button>
      }
    >
      <label className="field">
        <span>{t.membersProject}</span>
        <select className="select" value={project} onChange={(event) => setChosen(event.target.value)}>
          {projects.data?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {isAdministrator && <option value="">{t.thisServer}</option>}
        </select>
      </label>
      {project && <Members project={project} />}
      <Invitations project={project} />
      <SharedProjects />
      <Dialog open={isInviting} onClose={() => setInviting(false)} title={t.invite}>
        <InviteForm project={project} onClose={() => setInviting(false)} />
      </Dialog>
    </Section>
  );
}

function Members({ project }: { project: string }): ReactNode {
  const members = useQuery(membersQuery(project));
  const [removed, setRemoved] = useState<Member | null>(null);
  const path = (member: Member) => ({ params: { path: { project_id: project, member_id: member.id } } });
  const setRole = (member: Member, role: GivenRole): Promise<void> =>
    change(
      unwrap(api.PUT("/projects/{project_id}/members/{member_id}", { ...path(member), body: { role } })),
      "members",
    );
  const remove = async (): Promise<void> => {
    if (removed)
      await change(unwrap(api.DELETE("/projects/{project_id}/members/{member_id}", path(removed))), "members");
  };
  if (members.isPending) return <Loading lines={2} />;
  if (members.isError) return <Failure error={members.error} onRetry={() => void members.refetch()} />;
  return (
    <>
      {!members.data.length && <p className="muted small">{t.noMembers}</p>}
      <ul className="tokens" aria-label={t.membersTitle}>
        {members.data.map((member) => (
          <li key={member.id} className="token">
            <UserRound size={16} aria-hidden />
            <strong className="grow">{member.name}</strong>
            <select
              className="select"
              aria-label={t.roleOf(member.name)}
              value={member.role}
              onChange={(event) => void setRole(member, event.target.value as GivenRole)}
            >
              <RoleOptions />
            </select>
            <Button small kind="quiet" onClick={() => setRemoved(member)} aria-label={t.removeMember(member.name)}>
              {t.remove}
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        open={removed !== null}
        title={t.removeMemberTitle}
        text={t.removeMemberText(removed?.name ?? "")}
        action={t.remove}
        onConfirm={remove}
        onClose={() => setRemoved(null)}
      />
    </>
  );
}

function RoleOptions(): ReactNode {
  return ROLES.map((role) => (
    <option key={role} value={role}>
      {t.role[role]}
    </option>
  ));
}

/** Invitations to this project (to the server, where it is none) that can still be used. */
function Invitations({ project }: { project: string }): ReactNode {
  const invitations = useQuery(invitationsQuery());
  const shown = invitations.data?.filter((one) => (one.project ?? "") === project) ?? [];
  const takeBack = (id: string): Promise<void> => {
    const path = { invitation_id: id };
    return change(unwrap(api.DELETE("/invitations/{invitation_id}", { params: { path } })), "invitations");
  };
  return (
    <ul className="tokens">
      {shown.map((one) => {
        const who = one.email ?? t.anybody;
        return (
          <li key={one.id} className="token">
            <Mail size={16} aria-hidden />
            <span className="grow">
              <strong>{t.pendingInvitation(who)}</strong>
              <span className="muted small">
                {one.role && `${t.role[one.role]} · `}
                {t.expires} {formatDay(one.expires_at)}
              </span>
            </span>
            <Button small kind="quiet" onClick={() => void takeBack(one.id)} aria-label={t.takeBack(who)}>
              {t.takeBackShort}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

function SharedProjects(): ReactNode {
  const shared = useQuery(sharedProjectsQuery());
  const [, navigate] = useLocation();
  const [left, setLeft] = useState<Schemas["SharedProjectOut"] | null>(null);
  const leave = async (): Promise<void> => {
    if (!left) return;
    const path = { project_id: left.id };
    await change(unwrap(api.DELETE("/shared-projects/{project_id}", { params: { path } })), "shared-projects");
  };
  return (
    <>
      {Boolean(shared.data?.length) && <h3>{t.sharedWithYou}</h3>}
      <ul className="tokens">
        {shared.data?.map((one) => (
          <li key={one.id} className="token">
            <FolderOpen size={16} aria-hidden />
            <span className="grow">
              <strong>{one.name}</strong>
              <span className="muted small">{[one.owner_name, t.role[one.role]].filter(Boolean).join(" · ")}</span>
            </span>
            <Button
              small
              kind="quiet"
              aria-label={t.openProject(one.name)}
              onClick={() => {
                switchTo(one.id);
                navigate("/library");
              }}
            >
              {t.open}
            </Button>
            <Button small kind="quiet" onClick={() => setLeft(one)} aria-label={t.leaveProject(one.name)}>
              {t.leave}
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        open={left !== null}
        title={t.leaveTitle}
        text={t.leaveText(left?.name ?? "")}
        action={t.leave}
        onConfirm={leave}
        onClose={() => setLeft(null)}
      />
    </>
  );
}

function InviteForm({ project, onClose }: { project: string; onClose: () => void }): ReactNode {
  const [secret, setSecret] = useState<string | null>(null);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<GivenRole>("viewer");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const invited = { email: email.trim() || null, days: 7 };
    try {
      const body = project ? { ...invited, project, role } : invited;
      setSecret((await unwrap(api.POST("/invitations", { body }))).invitation);
      await queryClient.invalidateQueries({ queryKey: ["invitations"] });
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  if (secret !== null) {
    return (
      <Secret
        secret={invitationLink(secret)}
        label={t.inviteLink}
        once={t.inviteOnce}
        copied={t.inviteCopied}
        action={t.copyLink}
        onClose={onClose}
      />
    );
  }
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>{t.inviteEmail}</span>
        <input
          className="input"
          type="email"
          value={email}
          placeholder={t.inviteEmailHint}
          onChange={(event) => setEmail(event.target.value)}
        />
      </label>
      {project && (
        <label className="field">
          <span>{t.invitedRole}</span>
          <select className="select" value={role} onChange={(event) => setRole(event.target.value as GivenRole)}>
            <RoleOptions />
          </select>
        </label>
      )}
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit">
          {t.invite}
        </Button>
      </div>
    </form>
  );
}
