// npm agents, Cloudflare's client of x402 over MCP: a list of tools, called one after the other, each paid for once.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { withX402Client } from "agents/x402";
import { privateKeyToAccount } from "viem/accounts";

const { URL: url, KEY: key, CALLS: calls } = process.env;
const client = new Client({ name: "tests", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const shop = withX402Client(client, { account: privateKeyToAccount(key), network: "eip155:8453" });

const listed = (await shop.listTools()).tools.map((tool) => tool.name);
const bought = [];
for (const [name, args] of JSON.parse(calls)) {
  const { isError, content, structuredContent, _meta } = await shop.callTool(null, { name, arguments: args }, { timeout: 60_000 });
  bought.push({ isError, text: content[0].text, structured: structuredContent, receipt: _meta?.["x402/payment-response"] });
}
const session = transport.sessionId ?? null;
await client.close();
console.log(JSON.stringify({ listed, bought, session, elsewhere: globalThis.elsewhere }));
