// Buttons, with words or with an icon that a label names.

import { Tooltip } from "@base-ui/react/tooltip";
import type { ButtonHTMLAttributes, ReactNode } from "react";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: keyof typeof KINDS;
  small?: boolean;
}

const KINDS = { primary: "button-primary", danger: "button-danger", quiet: "button-quiet", plain: "" } as const;

export function Button({
  kind = "plain",
  small = false,
  className = "",
  type = "button",
  ...rest
}: ButtonProps): ReactNode {
  const classes = ["button", KINDS[kind], small && "button-small", className].filter(Boolean).join(" ");
  return <button type={type} className={classes} {...rest} />;
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  small?: boolean;
  children: ReactNode;
}

/** A button without words: the label is read out, and shown when it is pointed at. */
export function IconButton({ label, small = false, className = "", children, ...rest }: IconButtonProps): ReactNode {
  const classes = ["icon-button", small && "icon-button-small", className].filter(Boolean).join(" ");
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={<button type="button" className={classes} aria-label={label} {...rest} />}>
        {children}
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="positioner">
          <Tooltip.Popup className="tooltip">{label}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
