// A model server of this machine: offered by name, used after one click and a check, and given up again.
import { useMutation, useQuery } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Failure, Notice } from "../ui/Notice";
import { localModelQuery } from "./queries";
import { Section } from "./Section";

type Choice = Schemas["LocalModelIn"];
type Overview = Schemas["LocalModels"];

/** The settings' part: what is used, with a way back, or everything that could be; nothing where the settings of the server decide. */
export function LocalModelCard(): ReactNode {
  const found = useQuery(localModelQuery());
  if (!found.data || found.data.state === "off") return null;
  const { state, chosen, connected, servers } = found.data;
  return (
    <Section
      title={t.localModelTitle}
      text={t.localModelText}
      action={
        <IconButton label={t.lookAgain} disabled={found.isFetching} onClick={() => void found.refetch()}>
          <RefreshCw size={16} aria-hidden className={found.isFetching ? "spinner" : undefined} />
        </IconButton>
      }
    >
      {chosen && <Chosen choice={chosen} isUsed={state === "used"} />}
      {connected && <p className="muted small">{t.chatProfile(connected.profile, connected.told)}</p>}
      {state !== "used" && servers.map((one) => <Offer key={one.server} offered={one} />)}
      {!chosen && !servers.length && <p className="muted small">{t.localModelNone}</p>}
    </Section>
  );
}

/** The first screen's part: an offer while none is chosen. */
export function LocalModelOffer(): ReactNode {
  const found = useQuery(localModelQuery());
  const [isTaken, setTaken] = useState(false);
  const [first] = found.data?.servers ?? [];
  if (found.data?.state === "used" && found.data.chosen && isTaken) {
    const { server, model } = found.data.chosen;
    return (
      <div className="local-model-offer" role="status">
        <Notice>{t.localModelUsed(server, model)}</Notice>
      </div>
    );
  }
  if (found.data?.state !== "none" || !first) return null;
  return (
    <div className="local-model-offer">
      <Offer offered={first} onUsed={() => setTaken(true)} />
    </div>
  );
}

function Chosen({ choice: { server, model }, isUsed }: { choice: Choice; isUsed: boolean }): ReactNode {
  const stop = useMutation({ mutationFn: () => unwrap(api.DELETE("/local-model")), onSuccess: keep });
  return (
    <div className="stack">
      <Notice kind={isUsed ? "info" : "warn"}>
        <div className="spread">
          <span>{(isUsed ? t.localModelUsed : t.localModelSilent)(server, model)}</span>
          <Button small disabled={stop.isPending} onClick={() => stop.mutate()}>
            {t.localModelStop}
          </Button>
        </div>
      </Notice>
      {stop.isError && <Failure error={stop.error} />}
    </div>
  );
}

function Offer({ offered, onUsed }: { offered: Schemas["LocalServerOut"]; onUsed?: () => void }): ReactNode {
  const { server, models } = offered;
  const [picked, setPicked] = useState("");
  const model = models.includes(picked) ? picked : (models[0] ?? "");
  const use = useMutation({
    mutationFn: () => unwrap(api.POST("/local-model", { body: { server, model } })),
    onSuccess: (overview) => {
      keep(overview);
      onUsed?.();
    },
  });
  return (
    <div className="stack">
      <Notice>
        <div className="spread">
          <span>{t.localModelAnswers(server, model)}</span>
          {models.length > 1 && (
            <select
              className="select"
              aria-label={t.localModelOf(server)}
              value={model}
              disabled={use.isPending}
              onChange={(event) => setPicked(event.target.value)}
            >
              {models.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
          <Button small kind="primary" disabled={use.isPending} onClick={() => use.mutate()}>
            {t.localModelUse}
          </Button>
        </div>
      </Notice>
      {use.isPending && (
        <p className="muted small" role="status">
          {t.localModelChecking}
        </p>
      )}
      {use.isError && <Failure error={use.error} />}
    </div>
  );
}

function keep(overview: Overview): void {
  queryClient.setQueryData(localModelQuery().queryKey, overview);
  void queryClient.invalidateQueries({ queryKey: ["doctor"] });
}
