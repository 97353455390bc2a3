"""`python -m tests.transcripts.telegram_look`: the bot's chat as Telegram shows it, in docs/images/telegram-chat.png.

The page is made of what the bot sent: texts with their entities, buttons and the picture. Chromium takes the picture.
"""

from __future__ import annotations

import asyncio
import base64
import html
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.channels.telegram_world import world
from tests.contract_servers.telegram import Shown
from tests.transcripts.telegram import Chat, Line, converse

IMAGE = Path(__file__).resolve().parents[2] / "docs" / "images" / "telegram-chat.png"
_TAGS = {"bold": "b", "italic": "i", "code": "code", "blockquote": "blockquote", "pre": "pre", "underline": "u"}
_WIDTH, _HEIGHT, _COLOURS = 720, 1_148, 96
_STYLE = """
* { box-sizing: border-box } body { margin: 0; width: 720px; background: #8fb59a;
  font: 16px/1.35 Roboto, "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial, sans-serif; color: #111 }
header { background: #fff; padding: 10px 20px; display: flex; gap: 14px; align-items: center }
header i { width: 42px; height: 42px; border-radius: 50%; background: #12867b; color: #fff; display: grid; place-items: center;
  font: 600 20px/1 sans-serif } header b { display: block } header small { color: #7a8a94 }
main { padding: 14px 20px; display: flex; flex-direction: column; gap: 8px }
.turn { max-width: 78%; align-self: flex-start } .turn.own { align-self: flex-end }
.bubble { background: #fff; border-radius: 14px; padding: 7px 12px; white-space: pre-wrap; overflow-wrap: anywhere }
.own .bubble { background: #e3fdd1 } .turn.photo { width: 420px } .photo .bubble { padding: 4px 4px 8px }
.photo img { display: block; width: 100%; height: 300px; object-fit: cover; object-position: 0 28%; border-radius: 11px }
.photo p { margin: 6px 8px 0 } code { font: 14px ui-monospace, "Liberation Mono", monospace; color: #0f6b9d }
blockquote { margin: 4px 0 0; padding: 4px 10px; border-left: 3px solid #3aa0e0; background: #eef7fd; border-radius: 4px }
.keys { display: grid; grid-auto-flow: column; gap: 4px; margin-top: 4px }
.keys span { background: #5d8f7bcc; color: #fff; text-align: center; border-radius: 8px; padding: 7px; font-weight: 600 }
.file { display: flex; gap: 10px; align-items: center } .file i { background: #5bb45b; border-radius: 50%; width: 40px; height: 40px;
  color: #fff; display: grid; place-items: center; font: 600 11px/1 sans-serif } .file small { color: #5b9a5b; display: block }
.tap { align-self: center; background: #0004; color: #fff; border-radius: 12px; padding: 3px 12px; font-size: 14px }
"""


def page(chat: Chat) -> str:
    """The chat as HTML."""
    said = "".join(_own(one) if isinstance(one, Line) else _bots(one) for one in chat.shown)
    head = "<header><i>C</i><div><b>Citewell</b><small>bot</small></div></header>"
    return f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style>{head}<main>{said}</main>"


def _own(line: Line) -> str:
    if line.text.startswith("("):
        return f"<div class=tap>{html.escape(line.text.strip('()'))}</div>"
    said = html.escape(line.text)
    if line.text.startswith("["):
        name = html.escape(line.text.strip("[]"))
        said = f"<div class=file><i>PDF</i><div>{name}<small>document</small></div></div>"
    return f"<div class='turn own'><div class=bubble>{said}</div></div>"


def _bots(shown: Shown) -> str:
    rows = "".join(f"<div class=keys>{''.join(map(_key, row))}</div>" for row in shown.buttons)
    text = _styled(shown)
    if shown.photo is None:
        return f"<div class=turn><div class=bubble>{text}</div>{rows}</div>"
    data = base64.b64encode(shown.photo).decode()
    return f"<div class='turn photo'><div class=bubble><img src='data:image/jpeg;base64,{data}'><p>{text}</p></div>{rows}</div>"


def _key(button: dict[str, str]) -> str:
    return f"<span>{html.escape(button['text'])}</span>"


def _styled(shown: Shown) -> str:
    """The text with its entities as tags; they are counted in UTF-16 units and never overlap here."""
    raw, done, parts = shown.text.encode("utf-16-le"), 0, list[str]()
    for entity in sorted(shown.entities, key=lambda one: one["offset"]):
        start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
        tag = _TAGS[entity["type"]]
        parts.append(html.escape(raw[done:start].decode("utf-16-le")))
        parts.append(f"<{tag}>{html.escape(raw[start:end].decode('utf-16-le'))}</{tag}>")
        done = end
    return "".join([*parts, html.escape(raw[done:].decode("utf-16-le"))])


async def _chat(folder: Path) -> str:
    async with world(folder / "data") as opened:
        return page(await converse(opened))


def main() -> None:
    """Lead the conversation, and take its picture."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("The picture needs Chromium: scripts/ensure_chromium.sh")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "chat.html"
        written.write_text(asyncio.run(_chat(Path(folder))), encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={_WIDTH},{_HEIGHT}",
        ]
        subprocess.run(
            [browser, *options, f"--screenshot={IMAGE}", f"file://{written}"], check=True, capture_output=True
        )
    with Image.open(IMAGE) as taken:
        taken.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(IMAGE, optimize=True)
    sys.stdout.write(f"{IMAGE}\n")


if __name__ == "__main__":
    main()
