// Who is here, and which screen they see.
import { Fragment, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Link, Route, Switch } from "wouter";
import { setSession as setClientSession, whenSignedOut } from "../api/client";
import { lookUp } from "../api/codes";
import { queryClient } from "../api/queries";
import {
  currentSession,
  keepSignedIn,
  renewSession,
  type Session,
  signIn,
  takeFromAddress,
  whenAnotherTabSigns,
} from "../api/session";
import { chosenWorkspace, forgetWorkspace, takeProjectFromAddress } from "../api/workspace";
import { ChatScreen } from "../chat/ChatScreen";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Empty, Failure, Loading } from "../ui/Notice";
import { notify } from "../ui/Toasts";
import { abandonUnsent, openJournal } from "../upload/unsent";
import { resumeUploads } from "../upload/uploads";
import { WorkspaceGate } from "../workspace/WorkspaceGate";
import { AcceptInvitation } from "./AcceptInvitation";
import { Layout } from "./Layout";
import { SignIn } from "./SignIn";

const LibraryScreen = lazy(() => import("../library/LibraryScreen"));
const ResourceScreen = lazy(() => import("../library/ResourceScreen"));
const PlaygroundScreen = lazy(() => import("../playground/PlaygroundScreen"));
const SettingsScreen = lazy(() => import("../settings/SettingsScreen"));

/** Signs in once, even where an effect runs twice. */
const sessions = new Map<string | null, Promise<Session>>();
function openSession(token: string | null): Promise<Session> {
  let session = sessions.get(token);
  if (!session) {
    session = token ? signIn(token).catch(currentSession) : currentSession();
    sessions.set(token, session);
  }
  return session;
}

/** Start over: nothing of the earlier owner stays in the page, and nothing of theirs is sent. */
function startOver(): void {
  abandonUnsent();
  window.location.assign("/");
}

takeProjectFromAddress();
const arrived = takeFromAddress();

export function App({ token }: { token: string | null }): ReactNode {
  const [session, setSession] = useState<Session | null>(null);
  const [isReplaced, setReplaced] = useState(false);
  const [reset, setReset] = useState(arrived.reset);
  const [failure, setFailure] = useState<unknown>(null);
  const owner = session?.owner ?? null;

  useEffect(() => {
    openSession(token).then(setSession, setFailure);
  }, [token]);
  const person = session?.signedIn ? session.person : null;
  useEffect(() => {
    // The owner is remembered, so that another one is noticed.
    const end = (): void => setSession((present) => present && { ...present, signedIn: false });
    const goOn = (next: Session): void => {
      const isSame = next.signedIn && next.owner === owner;
      setSession((present) => (isSame ? next : present && { ...present, signedIn: false }));
      if (isSame) void queryClient.invalidateQueries();
    };
    // The access token of an account may have expired while the machine slept.
    whenSignedOut(() => (person === null ? end() : void currentSession().then(goOn, end)));
  }, [person, owner]);
  useEffect(() => (person === null ? undefined : keepSignedIn()), [person]);
  useEffect(() => {
    const problem = lookUp<string>(t.signInProblem, arrived.problem);
    if (owner !== null && problem !== undefined) notify(problem);
  }, [owner]);
  useEffect(() => {
    whenAnotherTabSigns((newcomer) => {
      if (newcomer !== null && newcomer === owner) {
        void renewSession().then(
          (isSame) => isSame && setSession((present) => present && { ...present, signedIn: true }),
          () => undefined,
        );
      } else if (owner === null) {
        currentSession().then(setSession, () => undefined);
      } else {
        setClientSession({ csrf: null, owner: null });
        forgetWorkspace();
        if (newcomer === null) setSession((present) => present && { ...present, signedIn: false });
        else setReplaced(true);
      }
    });
  }, [owner]);
  useEffect(() => {
    if (!session?.signedIn || session.owner === null) return;
    openJournal(session.owner);
    resumeUploads();
  }, [session]);

  if (failure) return <Failure error={failure} onRetry={() => window.location.reload()} />;
  if (!session) return null;
  if (isReplaced) return <Replaced />;
  if (!session.signedIn || (reset !== null && session.accounts)) {
    const enter = (next: Session, isNew: boolean): void => {
      // An invitation is used up by the account that is made with it.
      if (isNew) arrived.invitation = null;
      setReset(null);
      if (owner !== null && next.owner !== owner) startOver();
      else setSession(next);
    };
    return (
      <SignIn
        session={session}
        invitation={arrived.invitation}
        reset={reset}
        problem={arrived.problem}
        onSignedIn={enter}
      />
    );
  }
  return (
    <WorkspaceGate>
      <Layout>
        {person !== null && arrived.invitation !== null && <AcceptInvitation invitation={arrived.invitation} />}
        <Screens session={session} />
      </Layout>
    </WorkspaceGate>
  );
}

/** A screen begins again in another workspace: what was typed and chosen was about other files. */
function Screens({ session }: { session: Session }): ReactNode {
  const workspace = useStore(chosenWorkspace);
  return (
    <Suspense
      fallback={
        <main className="screen">
          <Loading lines={8} />
        </main>
      }
    >
      <Fragment key={workspace}>
        <Switch>
          <Route path="/">
            <ChatScreen threadId={null} />
          </Route>
          <Route path="/conversations/:id">{({ id }) => <ChatScreen key={id} threadId={id} />}</Route>
          <Route path="/library">
            <LibraryScreen />
          </Route>
          <Route path="/library/:id">{({ id }) => <ResourceScreen key={id} id={id} />}</Route>
          <Route path="/playground">
            <PlaygroundScreen />
          </Route>
          <Route path="/settings">
            <SettingsScreen session={session} />
          </Route>
          <Route>
            <main className="screen">
              <Empty title={t.notFoundTitle}>
                <p>{t.notFoundText}</p>
                <Link href="/">{t.goHome}</Link>
              </Empty>
            </main>
          </Route>
        </Switch>
      </Fragment>
    </Suspense>
  );
}

/** Another tab signed in as somebody else: this page shows what is no longer theirs to see. */
function Replaced(): ReactNode {
  return (
    <main className="screen">
      <Empty title={t.replacedTitle}>
        <p>{t.replacedText}</p>
        <Button kind="primary" onClick={startOver}>
          {t.reload}
        </Button>
      </Empty>
    </main>
  );
}
