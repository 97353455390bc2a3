// What is configured and what can be reached, as `citewell doctor` says it.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, Info, RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import { wordFor } from "../api/codes";
import { t } from "../strings";
import { IconButton } from "../ui/Button";
import { Failure, Loading } from "../ui/Notice";
import { doctorQuery, type Finding } from "./queries";
import { Section } from "./Section";

const ICONS = { ok: CircleCheck, note: Info, error: CircleAlert };

export function HealthCard(): ReactNode {
  const findings = useQuery(doctorQuery());
  return (
    <Section
      title={t.health}
      text={findings.data ? summary(findings.data) : t.healthText}
      action={
        <IconButton label={t.lookAgain} disabled={findings.isFetching} onClick={() => void findings.refetch()}>
          <RefreshCw size={16} aria-hidden className={findings.isFetching ? "spinner" : undefined} />
        </IconButton>
      }
    >
      {findings.isPending && <Loading lines={6} />}
      {findings.isError && <Failure error={findings.error} onRetry={() => void findings.refetch()} />}
      {findings.data && (
        <ul className="findings">
          {findings.data.map((finding) => (
            <FindingLine key={`${finding.part} ${finding.text}`} finding={finding} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function FindingLine({ finding: { part, level, text, advice } }: { finding: Finding }): ReactNode {
  const Icon = ICONS[level];
  return (
    <li className="finding" data-level={level}>
      <Icon size={16} aria-hidden />
      <span className="visually-hidden">{t.findingLevel[level]}</span>
      <strong>{wordFor(t.part, part)}</strong>
      <span>
        {text}
        {advice && <span className="muted"> {advice}</span>}
      </span>
    </li>
  );
}

function summary(findings: readonly Finding[]): string {
  const errors = findings.filter(({ level }) => level === "error").length;
  return errors ? t.problems(errors) : t.allWorks;
}
