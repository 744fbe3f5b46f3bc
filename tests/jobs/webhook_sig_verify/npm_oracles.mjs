// Writes npm_oracles.json: deliveries as the senders' own packages for JavaScript make or accept them. Beside a copy of this:
//   npm install @octokit/webhooks-methods@6.0.0 hook0-client@1.1.0 && node npm_oracles.mjs > npm_oracles.json
// GitHub: what Octokit signs. Vercel: the call of node:crypto that Vercel documents. CDP: what Hook0's client accepts.
import { createHmac } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import hook0 from "hook0-client";

const payloads = [
  '{"action":"opened","number":1347}',
  " ",
  "\n",
  '{\r\n\t"a" : [1, 2.50, -0, 1e400],\r\n}\r\n',
  "\ufeff{}",
  "a\u0000b\u0000",
  "e\u0301 \u00e9 \u212b \u202etxet\u202c \u200b",
  "\u{1f4a1}\u{10ffff}\ue000\uffff",
  "payload=%7B%22a%22%3A%22b%20c%22%7D&text=a+b",
  "text that is not JSON, and \"quotes\" and \\backslashes\\ and \\ud83d",
  "x".repeat(1_000),
];
const secrets = ["It's a Secret to Everybody", "k", "whsec_+/==", "sécret 💡 with spaces ", "long ".repeat(40)];
const time = 1_790_000_000;
const headerSets = [
  [["content-type", "application/json"]],
  [["x-event-type", "a b  c"], ["content-type", "application/json; charset=utf-8"], ["x-event-id", ""]],
  [["x-dots", "a.b.c"], ["x_odd!#$%&'*+.^`|~-", "=,;v1="]],
  [],
];

const hmac = (secret, ...pieces) => createHmac("sha256", secret).update(pieces.join("")).digest("hex");
const cases = payloads.map((payload, i) => [payload, secrets[i % secrets.length], headerSets[i % headerSets.length]]);
const written = { github: [], vercel: [], cdp: [] };

for (const [payload, secret, headers] of cases) {
  written.github.push({ payload, secret, signature: await sign(secret, payload) });
  written.vercel.push({ payload, secret, signature: createHmac("sha1", secret).update(payload).digest("hex") });

  const names = headers.map(([name]) => name).join(" ");
  const values = headers.map(([, value]) => value).join(".");
  const v0 = `v0=${hmac(secret, time, ".", payload)}`;
  const v1 = `h=${names},v1=${hmac(secret, time, ".", names, ".", values, ".", payload)}`;
  for (const signature of [`t=${time},${v0}`, `t=${time},${v1}`, `t=${time},${v0},${v1}`, `${v1}, t=${time}`]) {
    const sent = new Headers(headers.map(([name, value]) => [name, value]));
    hook0.verifyWebhookSignatureWithCurrentTime(signature, payload, sent, secret, 300, new Date(time * 1000)); // or it throws
    written.cdp.push({ payload, secret, signature, headers: Object.fromEntries(headers) });
  }
}
console.log(JSON.stringify(written, null, 1));
