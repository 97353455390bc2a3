// A switch with its label.
import { Switch as Base } from "@base-ui/react/switch";
import { type ReactNode, useId } from "react";

interface SwitchProps {
  label: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

export function Switch({ label, checked, disabled = false, onChange }: SwitchProps): ReactNode {
  const id = useId();
  return (
    <label className="switch-label" htmlFor={id}>
      <Base.Root id={id} className="switch" checked={checked} disabled={disabled} onCheckedChange={onChange}>
        <Base.Thumb className="switch-thumb" />
      </Base.Root>
      <span>{label}</span>
    </label>
  );
}
