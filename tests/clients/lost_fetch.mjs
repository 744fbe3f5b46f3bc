// npm @x402/fetch behind a proxy that loses answers: each call is sent until its answer comes.
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

const { URL, KEY, NETWORK, MESSAGES, HOOK } = process.env;
const { namedCalls, oneCall } = await import(HOOK);
const client = new x402Client().register(NETWORK, new ExactEvmScheme(privateKeyToAccount(KEY)));
client.registerExtension(namedCalls);
const pay = wrapFetchWithPayment(fetch, client);
const headers = { "content-type": "application/json" };

const answers = [];
for (const message of JSON.parse(MESSAGES)) {
  await oneCall(async () => {
    for (;;) {
      try {
        const answer = await pay(URL, { method: "POST", headers, body: JSON.stringify({ message }) });
        answers.push((await answer.json()).youSent);
        return;
      } catch {
        continue;
      }
    }
  });
}
console.log(JSON.stringify(answers));
