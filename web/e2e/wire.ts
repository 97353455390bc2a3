// The wire between a browser and the server, to be cut in the middle of an answer or of an upload.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export class Wire {
  private readonly sockets = new Set<Socket>();
  private readonly listener = createServer((browser) => this.join(browser));
  private onAnswer: ((data: Buffer) => Buffer | null) | null = null;
  private uploadLimit = Infinity;
  private whenCut: () => void = () => undefined;
  private isDown = false;
  address = "";

  constructor(private readonly port: number) {}

  async open(): Promise<void> {
    this.listener.listen(0, "127.0.0.1");
    await once(this.listener, "listening");
    this.address = `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  close(): void {
    this.cut();
    this.listener.close();
  }

  /** Nothing gets through until `mend`. */
  cut(): void {
    this.isDown = true;
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
    this.whenCut();
  }

  mend(): void {
    this.isDown = false;
  }

  /** Let the first words of the next answer through, and cut there; resolves then. */
  cutInAnswer(): Promise<void> {
    this.onAnswer = (data) => {
      const at = data.indexOf('{"stream"');
      if (at < 0) return null;
      const end = data.indexOf("\n", at);
      return data.subarray(0, end < 0 ? data.length : end + 1);
    };
    return this.cutSoon();
  }

  /** Cut when so many bytes of something have gone up; resolves then. */
  cutInUpload(bytes: number): Promise<void> {
    this.uploadLimit = bytes;
    return this.cutSoon();
  }

  private cutSoon(): Promise<void> {
    return new Promise((resolve) => {
      this.whenCut = () => {
        this.onAnswer = null;
        this.uploadLimit = Infinity;
        this.whenCut = () => undefined;
        resolve();
      };
    });
  }

  private join(browser: Socket): void {
    if (this.isDown) {
      browser.destroy();
      return;
    }
    const server = connect(this.port, "127.0.0.1");
    let up = 0;
    for (const [from, to] of [
      [browser, server],
      [server, browser],
    ] as const) {
      this.sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
    browser.on("data", (data) => {
      up += data.length;
      if (up > this.uploadLimit) this.cut();
      else if (!server.write(data)) browser.pause();
    });
    server.on("drain", () => browser.resume());
    server.on("data", (data) => {
      const words = this.onAnswer?.(Buffer.from(data));
      if (!words) browser.write(data);
      else browser.write(words, () => setTimeout(() => this.cut(), 50));
    });
  }
}
