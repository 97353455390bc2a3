// Everybody with an account, for administrators: who is let in, and what each may have and do.
import { useQuery } from "@tanstack/react-query";
import { UserRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Failure, Loading } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { QuotaForm } from "./QuotaForm";
import { peopleQuery } from "./queries";
import { Section } from "./Section";

type Person = Schemas["PersonOut"];

/** owner: of who is signed in, and is not to shut themselves out. */
export function PeopleCard({ owner }: { owner: string | null }): ReactNode {
  const people = useQuery(peopleQuery());
  const [limited, setLimited] = useState<Person | null>(null);
  return (
    <Section title={t.peopleTitle} text={t.peopleText}>
      {people.isPending && <Loading lines={2} />}
      {people.isError && <Failure error={people.error} onRetry={() => void people.refetch()} />}
      <ul className="tokens" aria-label={t.peopleTitle}>
        {people.data?.map((person) => (
          <Line
            key={person.id}
            person={person}
            isOneself={person.owner === owner}
            onQuotas={() => setLimited(person)}
          />
        ))}
      </ul>
      <Dialog
        open={limited !== null}
        onClose={() => setLimited(null)}
        title={t.quotasOf(limited?.name ?? "")}
        description={t.quotasText}
      >
        {limited && <QuotaForm personId={limited.id} onClose={() => setLimited(null)} />}
      </Dialog>
    </Section>
  );
}

interface LineProps {
  person: Person;
  isOneself: boolean;
  onQuotas: () => void;
}

function Line({ person, isOneself, onQuotas }: LineProps): ReactNode {
  const [isSuspending, setSuspending] = useState(false);
  const isActive = person.state === "active";
  const setState = async (state: Person["state"]): Promise<void> => {
    const path = { person_id: person.id };
    try {
      await unwrap(api.PATCH("/people/{person_id}", { params: { path }, body: { state } }));
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["people"] });
  };
  return (
    <li className="token token-wraps">
      <UserRound size={16} aria-hidden />
      <span className="grow token-words">
        <strong>{person.name}</strong>
        <span className="muted small">
          {person.email} · {t.created} {formatDay(person.created_at)}
          {person.administrator && ` · ${t.administrator}`}
          {!isActive && ` · ${t.suspendedWord}`}
        </span>
      </span>
      <span className="row">
        <Button small kind="quiet" onClick={onQuotas} aria-label={t.quotasOf(person.name)}>
          {t.quotaTitle}
        </Button>
        {isActive && !isOneself && (
          <Button small kind="quiet" onClick={() => setSuspending(true)} aria-label={t.suspendNamed(person.name)}>
            {t.suspend}
          </Button>
        )}
        {!isActive && (
          <Button small kind="quiet" onClick={() => void setState("active")} aria-label={t.letInNamed(person.name)}>
            {t.letIn}
          </Button>
        )}
      </span>
      <Confirm
        open={isSuspending}
        title={t.suspendNamed(person.name)}
        text={t.suspendText(person.name)}
        action={t.suspend}
        onConfirm={() => setState("suspended")}
        onClose={() => setSuspending(false)}
      />
    </li>
  );
}
