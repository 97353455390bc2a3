// A model server of this machine, as Ollama, LM Studio and llama.cpp answer: a list of models and OpenAI's chat completions, without a key.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const KNOWN = [
  ["LM Studio", 1234],
  ["llama.cpp", 8080],
  ["Ollama", 11434],
] as const;
const SOURCE = /<source n="(\d+)"[^\n]*>\n([\s\S]*?)\n<\/source>/g;
const ORDINARY = "When does the lighthouse open?";
const RULE = "A first-time borrower may receive at most GHS 5,000";

interface Asked {
  stream?: boolean;
  response_format?: unknown;
  messages: { content: string | { text?: string }[] | null }[];
}

export class ModelServer {
  private readonly listener = createServer((request, response) => void this.answer(request, response));
  readonly model = "small-model";
  name = "";
  chats = 0;

  /** words: what it answers instead of the rule on loans, whatever it is asked. */
  constructor(private readonly words: string | null = null) {}

  /** At a port that the system chooses; its address. */
  async openAnywhere(): Promise<string> {
    this.listener.listen(0, "127.0.0.1");
    await once(this.listener, "listening");
    return `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  /** At the first of the usual ports that nothing else uses. */
  async open(): Promise<void> {
    for (const [name, port] of KNOWN) {
      this.listener.listen(port, "127.0.0.1");
      const isOpen = await Promise.race([
        once(this.listener, "listening").then(() => true),
        once(this.listener, "error").then(() => false),
      ]);
      if (isOpen) {
        this.name = name;
        return;
      }
    }
    throw new Error(`All of ${KNOWN.map(([, port]) => port).join(", ")} are taken.`);
  }

  async close(): Promise<void> {
    this.listener.closeAllConnections();
    this.listener.close();
    await once(this.listener, "close");
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const part of request) body += String(part);
    if (request.url === "/api/tags") return send(response, { models: [{ name: this.model }] });
    if (request.url === "/v1/models") return send(response, { data: [{ id: this.model }] });
    this.chats += 1;
    const asked = JSON.parse(body) as Asked;
    const content = said(asked, this.words);
    const head = { id: "chat-1", created: 1, model: this.model };
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    if (!asked.stream) {
      const message = { role: "assistant", content };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return send(response, { ...head, object: "chat.completion", choices, usage });
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const event = (delta: object, finish_reason: string | null): void => {
      const choices = [{ index: 0, delta, finish_reason }];
      response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices })}\n\n`);
    };
    for (const word of content.split(/(?<= )/)) event({ role: "assistant", content: word }, null);
    event({}, "stop");
    response.end("data: [DONE]\n\n");
  }
}

/** The rule on loans with the number of the source that has it; or other words with that of the first source. */
function said({ response_format, messages }: Asked, words: string | null): string {
  if (response_format) {
    const question = words === null ? "What is the maximum loan size for first-time borrowers?" : ORDINARY;
    return JSON.stringify({ intent: "document_query", confidence: 0.9, question, search_terms: [] });
  }
  const sent = messages.map(({ content }) => text(content)).join("\n");
  const sources = [...sent.matchAll(SOURCE)];
  if (words !== null) return `${words}\n\nThe lighthouse opens at noon [${sources[0]?.[1] ?? "1"}].`;
  const source = sources.find(([, , passage]) => passage?.includes(RULE));
  return source ? `First-time borrowers may receive at most GHS 5,000 [${source[1]}].` : "Yes.";
}

function text(content: Asked["messages"][number]["content"]): string {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify(body));
}
