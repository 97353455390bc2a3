// Words selected in a source can be asked about.
import { MessageSquareQuote } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { pendingScope, pendingText } from "../chat/pending";
import { t } from "../strings";
import { Button } from "../ui/Button";

const MOST = 600;

interface Selected {
  text: string;
  x: number;
  y: number;
}

/** Where a selection ends, within the element; null for none or one elsewhere. */
function selectedIn(element: HTMLElement): Selected | null {
  const selection = window.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const text = selection.toString().replace(/\s+/g, " ").trim();
  if (!text || !element.contains(range.commonAncestorContainer)) return null;
  const box = range.getBoundingClientRect();
  const frame = element.getBoundingClientRect();
  return {
    text: text.length > MOST ? `${text.slice(0, MOST)}…` : text,
    x: Math.min(Math.max(box.left + box.width / 2 - frame.left, 80), frame.width - 80),
    y: Math.min(Math.max(box.bottom - frame.top + 6, 6), frame.height - 44),
  };
}

export function SelectionMenu({ resourceId, children }: { resourceId: string; children: ReactNode }): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const [selected, setSelected] = useState<Selected | null>(null);
  const [path, navigate] = useLocation();

  useEffect(() => {
    const update = (): void => setSelected(frame.current && selectedIn(frame.current));
    const settle = (): void => void setTimeout(update, 10);
    document.addEventListener("pointerup", settle);
    document.addEventListener("keyup", settle);
    return () => {
      document.removeEventListener("pointerup", settle);
      document.removeEventListener("keyup", settle);
    };
  }, []);

  const ask = (text: string): void => {
    pendingText.set(t.askSelectionPrefix(text));
    setSelected(null);
    window.getSelection()?.removeAllRanges();
    if (path === "/" || path.startsWith("/conversations")) return;
    pendingScope.set({ resource_ids: [resourceId] });
    navigate("/");
  };
  return (
    <div className="selection-frame" ref={frame}>
      {children}
      {selected && (
        <div className="selection-menu" style={{ left: selected.x, top: selected.y }}>
          <Button small kind="primary" onClick={() => ask(selected.text)}>
            <MessageSquareQuote size={15} aria-hidden />
            {t.askSelection}
          </Button>
        </div>
      )}
    </div>
  );
}
