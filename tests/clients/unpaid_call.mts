// Calls echo unpaid with the types that openapi-typescript made, in generated.d.ts, and its client.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated.js";

declare const process: { env: Record<string, string | undefined> };
declare const elsewhere: string[];

const client = createClient<paths>({ baseUrl: process.env["URL"] ?? "" });
const { data, error, response } = await client.POST("/v1/cdp/echo", { body: { message: "hello" } });
if (data !== undefined) throw new Error(`free of charge: ${data.youSent}`);
if (!("accepts" in error)) throw new Error(error.detail);
const challenge: components["schemas"]["PaymentRequired"] = error;
const networks = challenge.accepts.map((offer) => offer.network);
console.log(JSON.stringify({ status: response.status, networks, elsewhere }));
