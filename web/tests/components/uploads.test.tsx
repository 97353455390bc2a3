// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { setSession } from "../../src/api/client";
import { UploadDialog } from "../../src/upload/UploadDialog";
import { UploadTray } from "../../src/upload/UploadTray";
import { openUploadDialog, type Upload, uploadDialog, uploads } from "../../src/upload/uploads";
import { show } from "./rendering";

/** A server that takes files, and says nothing yet. */
class Requests {
  static forms: FormData[] = [];
  upload = {};
  open(): void {}
  setRequestHeader(): void {}
  abort(): void {}
  send(form: FormData): void {
    Requests.forms.push(form);
  }
}

const files = (...names: string[]): File[] => names.map((name) => new File(["12345"], name));
const sent = (): string[] => Requests.forms.map((form) => (form.get("file") as File).name);
const dialog = (): HTMLElement => screen.getByRole("dialog", { name: "Add files" });
const finished = (): Promise<void> => waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());

beforeEach(() => {
  Requests.forms = [];
  vi.stubGlobal("XMLHttpRequest", Requests);
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  setSession({ csrf: "proof", owner: "ama" });
});
afterEach(() =>
  act(() => {
    uploads.set([]);
    uploadDialog.set({ open: false, files: [], workspace: null });
  }),
);

describe("the upload dialog", () => {
  test("gathers files from several choices, lets one go, and sends the rest in order", async () => {
    const { user } = show(<UploadDialog />);
    act(() => openUploadDialog(files("a.txt")));
    fireEvent.change(within(dialog()).getByLabelText("Choose files"), { target: { files: files("b.txt", "a.txt") } });
    expect(within(dialog()).getByRole("list", { name: "3 files" })).toBeTruthy();
    const [first] = within(dialog()).getAllByRole("button", { name: "Remove a.txt" });
    if (first) await user.click(first);
    await user.click(within(dialog()).getByRole("button", { name: "Add 2 files" }));
    await finished();
    expect(sent()).toEqual(["b.txt", "a.txt"]);
  });

  test("offers nothing to send before a file is chosen, and forgets what was chosen when it is cancelled", async () => {
    const { user } = show(<UploadDialog />);
    act(() => openUploadDialog());
    expect(within(dialog()).getByRole("button", { name: "Add files" })).toHaveProperty("disabled", true);
    act(() => openUploadDialog(files("a.txt")));
    await user.click(within(dialog()).getByRole("button", { name: "Cancel" }));
    await finished();
    expect(sent()).toEqual([]);
    act(() => openUploadDialog());
    expect(within(dialog()).queryByText("a.txt")).toBeNull();
  });

  test("a password is for one choice, a project for those that follow; an identifier is for one file", async () => {
    const { user } = show(<UploadDialog />);
    act(() => openUploadDialog(files("a.txt")));
    await user.type(within(dialog()).getByLabelText("Project"), "Loans");
    await user.type(within(dialog()).getByLabelText("Password"), "secret");
    expect(within(dialog()).getByLabelText("Identifier")).toBeTruthy();
    await user.click(within(dialog()).getByRole("button", { name: "Add 1 file" }));
    await finished();
    act(() => openUploadDialog(files("b.txt", "c.txt")));
    expect(within(dialog()).queryByLabelText("Identifier")).toBeNull();
    await user.click(within(dialog()).getByRole("button", { name: "Add 2 files" }));
    await finished();
    expect(Requests.forms.map((form) => [form.get("project"), form.get("password")])).toEqual([
      ["Loans", "secret"],
      ["Loans", null],
      ["Loans", null],
    ]);
  });
});

describe("the upload tray", () => {
  const upload = (values: Partial<Upload>): Upload => ({
    id: values.name ?? "",
    owner: "ama",
    workspace: null,
    order: 1,
    file: new File(["12345"], values.name ?? ""),
    name: "",
    options: {
      project: "",
      identifier: "",
      password: "",
      multimodal: false,
      extractTables: true,
      extractImages: true,
      metadata: [],
    },
    status: "sending",
    sent: 0,
    stages: [],
    ...values,
  });
  const put = (...all: Upload[]): void => act(() => uploads.set(all));
  const tray = (): HTMLElement => screen.getByRole("region", { name: "Uploads" });

  test("has its live region before there is anything to say", async () => {
    show(<UploadTray />);
    const spoken = screen.getByRole("status");
    expect(spoken.textContent).toBe("");
    put(upload({ name: "a.txt" }));
    await waitFor(() => expect(spoken.textContent).toBe("Adding 1 file"));
    expect(screen.getByRole("status")).toBe(spoken);
  });

  test("counts what is under way, then what needs attention, then says that all is ready", () => {
    show(<UploadTray />);
    put(upload({ name: "a.txt", status: "indexed" }), upload({ name: "b.txt" }));
    expect(within(tray()).getByText("Adding 1 file")).toBeTruthy();
    expect(within(tray()).queryByRole("button", { name: "Clear finished" })).toBeNull();
    const problem = { code: "corrupt_file", message: "The file is damaged." };
    put(upload({ name: "a.txt", status: "indexed" }), upload({ name: "b.txt", status: "failed", problem }));
    expect(within(tray()).getByText("1 file needs attention")).toBeTruthy();
    expect(within(tray()).getByText("The file is damaged.")).toBeTruthy();
    put(upload({ name: "a.txt", status: "indexed" }));
    expect(within(tray()).getByText("All files are ready")).toBeTruthy();
  });

  test("opens by itself when something needs attention, and stays folded otherwise", async () => {
    const { user } = show(<UploadTray />);
    put(upload({ name: "a.txt" }));
    await user.click(within(tray()).getByRole("button", { name: "Hide uploads" }));
    put(upload({ name: "a.txt", sent: 3 }));
    expect(within(tray()).queryByRole("list")).toBeNull();
    put(upload({ name: "a.txt", status: "failed", problem: { code: "gave_up", message: "Tried three times." } }));
    expect(within(tray()).getByText("Tried three times.")).toBeTruthy();
  });

  test("asks for a password where one is needed, and sends the file again with it", async () => {
    const { user } = show(<UploadTray />);
    const problem = {
      code: "password_required",
      message: "Upload it again with its password in the `password` field.",
    };
    put(upload({ name: "locked.pdf", status: "failed", problem }));
    expect(within(tray()).getByText("This file is password-protected.")).toBeTruthy();
    await user.type(within(tray()).getByLabelText("Password"), "secret{Enter}");
    await waitFor(() => expect(sent()).toEqual(["locked.pdf"]));
    expect(Requests.forms[0]?.get("password")).toBe("secret");
  });

  test("says what was done for a file whose bytes were there already", () => {
    show(<UploadTray />);
    put(upload({ name: "a.txt", status: "indexed", known: "unchanged" }));
    expect(within(tray()).getByText("Already in your library")).toBeTruthy();
    put(upload({ name: "a.txt", status: "uploaded", known: "reread" }));
    expect(within(tray()).getByText(/Reading it again with these options/)).toBeTruthy();
    put(upload({ name: "a.txt", status: "extracted", known: "reindexed" }));
    expect(within(tray()).getByText(/Reindexing it with these options/)).toBeTruthy();
  });

  test("a cancelled upload leaves the tray", async () => {
    const { user } = show(<UploadTray />);
    put(upload({ name: "a.txt" }));
    await user.click(within(tray()).getByRole("button", { name: "Cancel a.txt" }));
    expect(screen.queryByRole("region", { name: "Uploads" })).toBeNull();
  });
});
