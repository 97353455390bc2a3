// What is said in place of a PDF that pdf.js does not open: it is locked, gone or damaged, or nobody answered.
import { InvalidPDFException, ResponseException } from "pdfjs-dist";
import type { ReactNode } from "react";
import { t } from "../strings";
import { Empty, Failure, Notice } from "../ui/Notice";
import { PasswordForm } from "../ui/PasswordForm";

interface PdfProblemProps {
  error: unknown;
  /** Whether a password was given already. */
  isSecondTry: boolean;
  onPassword: (password: string) => void;
}

export function PdfProblem({ error, isSecondTry, onPassword }: PdfProblemProps): ReactNode {
  // pdf.js exports its other exceptions, but not this one.
  if (error instanceof Error && error.name === "PasswordException") {
    const title = isSecondTry ? t.failedTitle.wrong_password : t.failedTitle.password_required;
    return (
      <Notice kind={isSecondTry ? "error" : "warn"}>
        <div className="stack">
          <strong>{title}</strong>
          <span>{t.lockedPdf}</span>
          <PasswordForm key={title} onSubmit={onPassword} />
        </div>
      </Notice>
    );
  }
  if (error instanceof InvalidPDFException) return <Empty title={t.noPreview} />;
  if (error instanceof ResponseException && Number(error.status) === 404) return <Empty title={t.sourceGone} />;
  return <Failure error={error} />;
}
