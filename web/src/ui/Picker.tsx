// A dialog to find one thing among many by typing; arrows move, Enter picks.
import { Dialog } from "@base-ui/react/dialog";
import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
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
  const found = options.filter(({ label, group }) => words.every((word) => `${label} ${group ?? ""}`.toLowerCase().includes(word)));
  const first = words[0];
  if (!first) return found.slice(0, MOST_SHOWN);
  const rank = (option: PickerOption): number => (option.label.toLowerCase().startsWith(first) ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN);
}

export function Picker({ open, onClose, ...rest }: PickerProps): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog picker">
          <PickerBody onClose={onClose} {...rest} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PickerBody({ title, placeholder, options, onClose }: Omit<PickerProps, "open">): ReactNode {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const shown = matching(options, typed);
  const active = Math.min(at, shown.length - 1);

  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const pick = (option: PickerOption | undefined): void => {
    if (!option) return;
    onClose();
    option.onPick();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((active + step + shown.length) % Math.max(1, shown.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      pick(shown[active]);
    }
  };
  return (
    <>
      <Dialog.Title className="visually-hidden">{title}</Dialog.Title>
      <div className="picker-input">
        <Search size={18} aria-hidden />
        <input
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={shown[active] ? `${id}-${active}` : undefined}
          aria-label={title}
          placeholder={placeholder}
          value={typed}
          autoFocus
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd className="kbd">Esc</kbd>
      </div>
      <div className="picker-list" role="listbox" id={id} aria-label={title} ref={list}>
        {shown.map((option, index) => (
          <div
            key={option.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            className="picker-option"
            onMouseMove={() => setAt(index)}
            onClick={() => pick(option)}
          >
            {option.icon}
            <span className="truncate grow">{option.label}</span>
            <span className="muted small truncate">{option.hint ?? option.group}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className="muted picker-none">{t.nothingFound}</p>}
    </>
  );
}
