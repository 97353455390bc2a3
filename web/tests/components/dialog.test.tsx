// @vitest-environment happy-dom
import { screen, waitFor } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { describe, expect, test, vi } from "vitest";
import { Confirm } from "../../src/ui/Dialog";
import { show } from "./rendering";

/** Deletes a number of files, as screens do: the number is gone when the dialog closes. */
function Deleting({ onConfirm }: { onConfirm: () => Promise<void> }): ReactNode {
  const [count, setCount] = useState(3);
  return (
    <Confirm
      open={count > 0}
      title={`Delete ${count} files?`}
      text={`${count} files will be deleted.`}
      action="Delete"
      onConfirm={onConfirm}
      onClose={() => setCount(0)}
    />
  );
}

describe("a question before something that cannot be undone", () => {
  test("cannot be answered twice while the answer is carried out, and closes afterwards", async () => {
    let finish = (): void => undefined;
    const onConfirm = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const { user } = show(<Deleting onConfirm={onConfirm} />);
    const button = screen.getByRole("button", { name: "Delete" });
    await user.click(button);
    expect(button).toHaveProperty("disabled", true);
    await user.click(button);
    expect(onConfirm).toHaveBeenCalledTimes(1);
    finish();
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  test("keeps its words while it closes, whatever has become of what it asks about", async () => {
    const heard: string[] = [];
    const { user } = show(<Deleting onConfirm={() => Promise.resolve()} />);
    const watcher = new MutationObserver(() => heard.push(document.body.textContent));
    watcher.observe(document.body, { subtree: true, childList: true, characterData: true });
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    watcher.disconnect();
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.filter((text) => text.includes("0 files"))).toEqual([]);
  });

  test("closes without doing anything when it is cancelled", async () => {
    const onConfirm = vi.fn(() => Promise.resolve());
    const { user } = show(<Deleting onConfirm={onConfirm} />);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(onConfirm).not.toHaveBeenCalled();
  });
});
