// A dialog to find one thing among many by typing; arrows move, Enter picks.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { Search } from "lucide-react";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { t } from "../strings";

export interface PickerOption {
  id: string;
  label: string;
  hint?: string;
  icon?: ReactNode;
  group?: string;
  onPick: () => void;
}

interface PickerProps {
  open: boolean;
  title: string;
  placeholder: string;
  options: PickerOption[];
  onClose: () => void;
}

const MOST_SHOWN = 100;

/** Options whose label contains every word typed, those that begin with it first. */
export function matching(options: PickerOption[], typed: string): PickerOption[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = options.filter(({ label, group }) =>
    words.every((word) => `${label} ${group ?? ""}`.toLowerCase().includes(word)),
  );
  const first = words[0];
  if (!first) return found.slice(0, MOST_SHOWN);
  const rank = (option: PickerOption): number => (option.label.toLowerCase().startsWith(first) ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN);
}

export function Picker({ open, onClose, ...rest }: PickerProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog picker" initialFocus={field}>
          <PickerBody onClose={onClose} field={field} {...rest} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface PickerBodyProps extends Omit<PickerProps, "open"> {
  field: RefObject<HTMLInputElement | null>;
}

function PickerBody({ title, placeholder, options, field, onClose }: PickerBodyProps): ReactNode {
  const [typed, setTyped] = useState("");
  const pick = (option: PickerOption): void => {
    onClose();
    option.onPick();
  };
  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={matching(options, typed)}
      itemToStringValue={(option) => option.label}
      value={typed}
      onValueChange={(value, { reason }) => reason !== "item-press" && setTyped(value)}
      autoHighlight="always"
      keepHighlight
    >
      <Dialog.Title className="visually-hidden">{title}</Dialog.Title>
      <div className="picker-input">
        <Search size={18} aria-hidden />
        <Autocomplete.Input ref={field} aria-label={title} placeholder={placeholder} />
        <kbd className="kbd">Esc</kbd>
      </div>
      <Autocomplete.List className="picker-list" aria-label={title}>
        {(option: PickerOption) => (
          <Autocomplete.Item key={option.id} value={option} className="picker-option" onClick={() => pick(option)}>
            {option.icon}
            <span className="truncate grow">{option.label}</span>
            <span className="picker-hint muted small truncate">{option.hint ?? option.group}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      <Autocomplete.Empty>
        <p className="muted picker-none">{t.nothingFound}</p>
      </Autocomplete.Empty>
    </Autocomplete.Root>
  );
}
