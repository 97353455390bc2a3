// Where somebody with an account is signed in; signing out there, or everywhere.
import { useQuery } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import type { ReactNode } from "react";
import { api, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { notifyError } from "../ui/Toasts";
import { Section } from "./Section";

const KEY = ["account", "sessions"];

export function SessionsCard(): ReactNode {
  const found = useQuery({
    queryKey: KEY,
    // A token in place of an account has no sessions.
    queryFn: async () => (await unwrap(api.GET("/account/sessions"))).sessions,
    retry: false,
  });
  if (!found.data) return null;
  const end = (ending: Promise<unknown>): void =>
    void ending.then(() => queryClient.invalidateQueries({ queryKey: KEY }), notifyError);
  return (
    <Section
      title={t.signedInTitle}
      text={t.signedInText}
      action={
        <Button small onClick={() => end(unwrap(api.DELETE("/account/sessions")))}>
          {t.signOutEverywhere}
        </Button>
      }
    >
      <ul className="tokens">
        {found.data.map((one) => (
          <li key={one.id} className="token">
            <Monitor size={16} aria-hidden />
            <span className="grow">
              <strong>{one.current ? t.signedInHere : one.agent}</strong>
              <span className="muted small">
                {one.address} · {t.lastUsed} {formatDay(one.last_used_at)}
              </span>
            </span>
            {!one.current && (
              <Button
                small
                kind="quiet"
                aria-label={t.signOutNamed(one.agent)}
                onClick={() =>
                  end(
                    unwrap(api.DELETE("/account/sessions/{session_id}", { params: { path: { session_id: one.id } } })),
                  )
                }
              >
                {t.signOut}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
