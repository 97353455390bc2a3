// A menu that a button opens; arrows move in it, Esc closes it.
import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  onSelect: () => void;
}

interface MenuProps {
  trigger: ReactElement;
  items: (MenuItem | "separator")[];
  side?: "top" | "bottom";
  align?: "start" | "end";
}

export function Menu({ trigger, items, side = "bottom", align = "start" }: MenuProps): ReactNode {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="positioner" side={side} align={align} sideOffset={6}>
          <Base.Popup className="popup">
            {items.map((item, index) =>
              item === "separator" ? (
                <Base.Separator key={index} className="menu-separator" />
              ) : (
                <Base.Item key={item.label} className={item.danger ? "menu-item menu-item-danger" : "menu-item"} onClick={item.onSelect}>
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
