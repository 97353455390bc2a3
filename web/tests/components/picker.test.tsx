// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, test, vi } from "vitest";
import { Picker, type PickerOption } from "../../src/ui/Picker";
import { show } from "./rendering";

const picked = vi.fn();
const options = (...labels: string[]): PickerOption[] =>
  labels.map((label) => ({ id: label, label, onPick: () => picked(label) }));
const palette = (...labels: string[]) => (
  <Picker open onClose={() => undefined} title="Go to" placeholder="Find" options={options(...labels)} />
);
/** The dialog takes the focus a moment after it opens. */
async function shown(children: ReactNode): Promise<ReturnType<typeof show>> {
  const page = show(children);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("combobox")));
  return page;
}
const highlighted = (): string | null =>
  screen.getByRole("option", { selected: true }).querySelector(".grow")?.textContent ?? null;

describe("the highlighted entry of a list to pick from", () => {
  test("stays the same one when others arrive before it, and is what Enter picks", async () => {
    const { user, again } = await shown(palette("New chat", "Library", "Settings"));
    expect(highlighted()).toBe("New chat");
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(highlighted()).toBe("Settings");
    again(palette("New chat", "Library", "A chat", "Another chat", "Settings", "A file"));
    expect(highlighted()).toBe("Settings");
    const field = screen.getByRole("combobox");
    expect(field.getAttribute("aria-activedescendant")).toBe(screen.getByRole("option", { selected: true }).id);
    await user.keyboard("{ArrowUp}");
    expect(highlighted()).toBe("Another chat");
    await user.keyboard("{Enter}");
    expect(picked.mock.calls).toEqual([["Another chat"]]);
  });

  test("goes round at both ends, and is the first one after typing, or when its own entry is gone", async () => {
    const { user, again } = await shown(palette("New chat", "Library", "Settings"));
    await user.keyboard("{ArrowUp}");
    expect(highlighted()).toBe("Settings");
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(highlighted()).toBe("Library");
    again(palette("New chat", "Settings"));
    expect(highlighted()).toBe("New chat");
    await user.keyboard("{ArrowDown}t");
    expect(screen.getAllByRole("option")).toHaveLength(2);
    expect(highlighted()).toBe("New chat");
  });

  test("follows the pointer, and a click picks it", async () => {
    picked.mockClear();
    show(palette("New chat", "Library"));
    const library = screen.getByRole("option", { name: /Library/ });
    fireEvent.pointerMove(library);
    expect(highlighted()).toBe("Library");
    fireEvent.click(library);
    expect(picked.mock.calls).toEqual([["Library"]]);
  });
});
