// npm @x402/fetch with @x402/evm: an authorization of EIP-3009 is signed without asking a node.
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

const { URL, KEY, NETWORK, MESSAGE } = process.env;
const client = new x402Client().register(NETWORK, new ExactEvmScheme(privateKeyToAccount(KEY)));
const answer = await wrapFetchWithPayment(fetch, client)(URL, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: MESSAGE }),
});
const receipt = answer.headers.get("payment-response");
console.log(JSON.stringify({ status: answer.status, body: await answer.text(), receipt, elsewhere: globalThis.elsewhere }));
