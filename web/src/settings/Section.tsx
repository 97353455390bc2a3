// One part of the settings, with its heading.
import { type ReactNode, useId } from "react";

interface SectionProps {
  title: string;
  text?: string;
  action?: ReactNode;
  children: ReactNode;
}

export function Section({ title, text, action, children }: SectionProps): ReactNode {
  const id = useId();
  return (
    <section className="card stack" aria-labelledby={id}>
      <div className="section-head">
        <div className="grow section-words">
          <h2 id={id}>{title}</h2>
          {text && <p className="muted small">{text}</p>}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
