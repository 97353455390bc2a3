// Who is here, and which screen they see.
import { type ReactNode, Suspense, lazy, useEffect, useState } from "react";
import { Route, Switch } from "wouter";
import { whenSignedOut } from "../api/client";
import { type Session, currentSession, signIn } from "../api/session";
import { ChatScreen } from "../chat/ChatScreen";
import { t } from "../strings";
import { Empty, Failure, Loading } from "../ui/Notice";
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

export function App({ token }: { token: string | null }): ReactNode {
  const [session, setSession] = useState<Session | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  useEffect(() => {
    openSession(token).then(setSession, setFailure);
    whenSignedOut(() => setSession((present) => present && { ...present, signedIn: false }));
  }, [token]);

  if (failure) return <Failure error={failure} onRetry={() => window.location.reload()} />;
  if (!session) return null;
  if (!session.signedIn) return <SignIn onSignedIn={setSession} />;
  return (
    <Layout>
      <Suspense fallback={<main className="screen"><Loading lines={8} /></main>}>
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
            <SettingsScreen version={session.version} />
          </Route>
          <Route>
            <main className="screen">
              <Empty title={t.notFoundTitle}>{t.notFoundText}</Empty>
            </main>
          </Route>
        </Switch>
      </Suspense>
    </Layout>
  );
}
