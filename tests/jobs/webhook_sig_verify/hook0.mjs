// Writes hook0.jsonl: deliveries of CDP, one a line, as the client of Hook0 accepts them. Beside a copy of this:
//   npm install hook0-client@1.1.0 && node hook0.mjs > hook0.jsonl
import { createHmac } from "node:crypto";
import hook0 from "hook0-client";

const time = 1_790_000_000;
const cases = [
  ["payload=%7B%22a%22%3A%22b%20c%22%7D&text=a+b", "sécret 💡 with spaces ", [["content-type", "application/json"]]],
  [
    "a\u0000b\u0000",
    "It's a Secret to Everybody",
    [["x-event-type", "a b  c"], ["content-type", "application/json; charset=utf-8"], ["x-event-id", ""]],
  ],
  ["e\u0301 \u00e9 \u212b \u202etxet\u202c \u200b", "k", [["x-dots", "a.b.c"], ["x_odd!#$%&'*+.^`|~-", "=,;v1="]]],
  ["\u{1f4a1}\u{10ffff}\ue000\uffff", "whsec_+/==", []],
];

const hmac = (secret, ...pieces) => createHmac("sha256", secret).update(pieces.join("")).digest("hex");

for (const [payload, secret, headers] of cases) {
  const names = headers.map(([name]) => name).join(" ");
  const values = headers.map(([, value]) => value).join(".");
  const v0 = `v0=${hmac(secret, time, ".", payload)}`;
  const v1 = `h=${names},v1=${hmac(secret, time, ".", names, ".", values, ".", payload)}`;
  for (const signature of [`t=${time},${v0}`, `t=${time},${v1}`, `t=${time},${v0},${v1}`, `${v1}, t=${time}`]) {
    const sent = new Headers(headers.map(([name, value]) => [name, value]));
    hook0.verifyWebhookSignatureWithCurrentTime(signature, payload, sent, secret, 300, new Date(time * 1000)); // or it throws
    console.log(JSON.stringify({ payload, secret, signature, headers: Object.fromEntries(headers) }));
  }
}
