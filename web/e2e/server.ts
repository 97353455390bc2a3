// Starts `citewell serve` on a folder of its own, as a user would, and ends it as a power cut would.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const PYTHON = process.env.CITEWELL_PYTHON ?? join(import.meta.dirname, "../../.venv/bin/python");
const SECRET = "only for the browser tests, 32 bytes or more";
const START_SECONDS = 180;
/** The variable that names the folder of `template.ts`. */
export const TEMPLATE = "TEST_TEMPLATE_FOLDER";

export class Server {
  private process: ChildProcess | null = null;
  private readonly folder = mkdtempSync(join(tmpdir(), "citewell-browser-"));
  private log = "";
  address = "";
  token = "";

  /** settings: environment variables beside the tests' own; undefined takes one of those away. */
  constructor(private readonly settings: Record<string, string | undefined> = {}) {}

  /** Have it begin with the sample files, as files of this machine's owner. */
  withSamples(): this {
    const template = process.env[TEMPLATE];
    if (!template) throw new Error("The folder of sample files was not made: see template.ts");
    cpSync(template, this.data, { recursive: true });
    return this;
  }

  async start(port = 0): Promise<void> {
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith("CITEWELL_")),
    );
    const child = spawn(PYTHON, ["-m", "citewell.cli", "serve", "--data", this.data, "--port", String(port)], {
      env: { ...environment, CITEWELL_AUTH_SECRET: SECRET, COLUMNS: "300", ...this.settings },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the server did not start:\n${this.log}`)),
        START_SECONDS * 1_000,
      );
      const read = (data: Buffer): void => {
        this.log += data.toString();
        const ready = /Open\s+(http:\/\/[^\s/]+)/.exec(this.log);
        if (!ready?.[1]) return;
        this.address = ready[1];
        this.token = readFileSync(join(this.data, "token"), "utf8").trim();
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${this.log}`)));
    });
  }

  /** Where it keeps everything. */
  get data(): string {
    return join(this.folder, "data");
  }

  get link(): string {
    return `${this.address}/?token=${this.token}`;
  }

  /** kill -9 of the server and everything that it started. */
  async kill(): Promise<void> {
    const child = this.process;
    this.process = null;
    if (!child?.pid || child.exitCode !== null) return;
    child.removeAllListeners("exit");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    process.kill(-child.pid, "SIGKILL");
    await ended;
  }

  /** The same folder at the same address again. */
  async restart(): Promise<void> {
    this.log = "";
    await this.start(Number(new URL(this.address).port));
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Change the database behind the server's back, as time or an operator would. */
  sql(statement: string): void {
    const script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], 30); c.execute(sys.argv[2]); c.commit()";
    execFileSync(PYTHON, ["-c", script, join(this.folder, "data", "citewell.db"), statement]);
  }

  /** A token of another owner, as an identity provider would sign it. */
  tokenOf(owner: string): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const body = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: owner, exp: Math.floor(Date.now() / 1_000) + 3_600 })}`;
    return `${body}.${createHmac("sha256", SECRET).update(body).digest("base64url")}`;
  }

  async call<T>(method: string, path: string, body?: unknown, token = this.token): Promise<T> {
    const isForm = body instanceof FormData;
    const response = await fetch(this.address + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && !isForm ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }
}
