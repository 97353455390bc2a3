// A menu that a button opens; arrows move in it, Esc closes it.

import { Menu as Base } from "@base-ui/react/menu";
import { type ButtonHTMLAttributes, cloneElement, type ReactElement, type ReactNode, useState } from "react";
import { placed } from "../lib/placed";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  onSelect: () => void;
}

interface MenuProps {
  /** A button. */
  trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>;
  items: (MenuItem | "separator")[];
  side?: "top" | "bottom";
  align?: "start" | "end";
}

/** Until it is opened for the first time, a menu is its button alone: long lists have one in every row. */
export function Menu(props: MenuProps): ReactNode {
  const [isUsed, setUsed] = useState(false);
  if (isUsed) return <OpenedMenu {...props} />;
  // Not in the click itself, which would count as one outside of the menu that it opens.
  const open = (): void => void setTimeout(() => setUsed(true));
  return cloneElement(props.trigger, { "aria-haspopup": "menu", "aria-expanded": false, onClick: open });
}

function OpenedMenu({ trigger, items, side = "bottom", align = "start" }: MenuProps): ReactNode {
  return (
    <Base.Root modal={false} defaultOpen>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="positioner" side={side} align={align} sideOffset={6}>
          <Base.Popup className="popup">
            {placed(items).map(({ at, item }) =>
              item === "separator" ? (
                <Base.Separator key={at} className="menu-separator" />
              ) : (
                <Base.Item
                  key={item.label}
                  className={item.danger ? "menu-item menu-item-danger" : "menu-item"}
                  onClick={item.onSelect}
                >
                  {item.icon}
                  <span className="truncate">{item.label}</span>
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
