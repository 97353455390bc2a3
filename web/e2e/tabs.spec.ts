// What is shown here when another tab asks or deletes.
import { ask, expect, question, ready, test } from "./fixtures";

const LOAN = "What is the maximum loan size for first-time borrowers?";

test("a question that another tab has asked is answered here too, once its answer is there", async ({
  home: page,
  server,
}) => {
  const { thread_id: thread } = await server.call<{ thread_id: string }>("POST", "/chat", { message: LOAN });
  await page.route(
    `**/threads/${thread}`,
    async (route) => {
      const whole = await (await route.fetch()).json();
      await route.fulfill({ json: { ...whole, messages: whole.messages.slice(0, 1) } });
    },
    { times: 1 },
  );
  await page.goto(`${server.address}/conversations/${thread}`);
  await expect(page.getByText("This question has no answer yet.")).toBeVisible();
  await expect(page.getByRole("article", { name: "Answer" })).toContainText("GHS 5,000");
  await expect(page.getByText("This question has no answer yet.")).toBeHidden();
});

test("a tagged file that was deleted is called so, and what it was to answer says what to do", async ({
  home: page,
  server,
}) => {
  const form = new FormData();
  form.set("file", new Blob(["The ferry to Ada leaves at seven in the morning.\n"]), "ferry.txt");
  const { id } = await server.call<{ id: string }>("POST", "/ingest", form);
  await ready(server);
  await page.goto(`${server.address}/library/${id}`);
  await page.getByRole("button", { name: "Ask about this file" }).click();
  await ask(page, "When does the ferry leave?");
  await server.call("DELETE", `/resources/${id}`);
  await page.reload();
  const remove = page.getByRole("button", { name: "Remove Deleted file: answer from all documents" });
  await expect(remove).toBeVisible();
  await expect(page.getByRole("article", { name: "You asked" })).toContainText("Answers from Deleted file");
  await question(page).fill("Where does it go?");
  await question(page).press("Enter");
  await expect(page.getByRole("article", { name: "Answer" }).last()).toContainText("was deleted. Remove it");
  await remove.click();
  await expect(remove).toBeHidden();
});
