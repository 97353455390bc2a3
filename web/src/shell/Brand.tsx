// The name and its mark.
import type { ReactNode } from "react";
import mark from "../favicon.svg";

export function Brand(): ReactNode {
  return (
    <span className="brand">
      <img src={mark} alt="" width={24} height={24} />
      Citewell
    </span>
  );
}
