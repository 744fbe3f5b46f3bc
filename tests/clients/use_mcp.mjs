// npm @modelcontextprotocol/client: lists the tools of the server at URL, or of the one that COMMAND starts, and buys an echo.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const { URL: url, COMMAND, ...env } = process.env;
const [command, ...args] = COMMAND ? JSON.parse(COMMAND) : [];
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env });
const client = new Client({ name: "tests", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const bought = await client.callTool({ name: "echo", arguments: { message: "hello" } });
await client.close();
console.log(JSON.stringify({ tools, bought, elsewhere: globalThis.elsewhere }));
