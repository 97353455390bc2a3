// A dialog to find one thing among many by typing; arrows move, Enter picks.
import { Dialog } from "@base-ui/react/dialog";
import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
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
  /** What has the focus afterwards; else what had it before. */
  next?: RefObject<HTMLElement | null>;
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

export function Picker({ open, onClose, next, ...rest }: PickerProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog picker" initialFocus={field} finalFocus={next}>
          <PickerBody onClose={onClose} field={field} {...rest} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface PickerBodyProps extends Omit<PickerProps, "open" | "next"> {
  field: RefObject<HTMLInputElement | null>;
}

/** The place of the highlighted option: that of the one which was chosen by its id, wherever a new list has it, else the first. */
function placeOf(shown: readonly PickerOption[], id: string | null): number {
  return Math.max(
    0,
    shown.findIndex((option) => option.id === id),
  );
}

const MOVES: Readonly<Record<string, (place: number, count: number) => number>> = {
  ArrowDown: (place, count) => (place + 1) % count,
  ArrowUp: (place, count) => (place - 1 + count) % count,
  PageDown: (place, count) => Math.min(place + 10, count - 1),
  PageUp: (place) => Math.max(place - 10, 0),
};

function PickerBody({ title, placeholder, options, field, onClose }: PickerBodyProps): ReactNode {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const list = useId();
  const shown = matching(options, typed);
  const place = placeOf(shown, chosen);
  const highlighted = shown[place];
  useEffect(() => {
    if (chosen !== null) document.getElementById(`${list}${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [list, chosen]);
  const pick = (option: PickerOption): void => {
    onClose();
    option.onPick();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const move = MOVES[event.key];
    if (move && shown.length) {
      event.preventDefault();
      setChosen(shown[move(place, shown.length)]?.id ?? null);
    } else if (event.key === "Enter" && highlighted) {
      event.preventDefault();
      pick(highlighted);
    }
  };
  return (
    <>
      <Dialog.Title className="visually-hidden">{title}</Dialog.Title>
      <div className="picker-input">
        <Search size={18} aria-hidden />
        <input
          ref={field}
          role="combobox"
          aria-label={title}
          aria-expanded
          aria-autocomplete="list"
          aria-controls={list}
          aria-activedescendant={highlighted && `${list}${highlighted.id}`}
          autoComplete="off"
          placeholder={placeholder}
          value={typed}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setTyped(event.target.value);
            setChosen(null);
          }}
        />
        <kbd className="kbd">Esc</kbd>
      </div>
      <div className="picker-list" id={list} role="listbox" aria-label={title}>
        {shown.map((option, index) => (
          // The field has the keyboard; an option is only pointed at.
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field picks it
          <div
            key={option.id}
            id={`${list}${option.id}`}
            role="option"
            aria-selected={index === place}
            data-highlighted={index === place ? "" : undefined}
            className="picker-option"
            onPointerMove={() => option.id !== highlighted?.id && setChosen(option.id)}
            onClick={() => pick(option)}
          >
            {option.icon}
            <span className="truncate grow">{option.label}</span>
            <span className="picker-hint muted small truncate">{option.hint ?? option.group}</span>
          </div>
        ))}
      </div>
      {!shown.length && (
        <p className="muted picker-none" role="status">
          {t.nothingFound}
        </p>
      )}
    </>
  );
}
