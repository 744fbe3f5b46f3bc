// npm @x402/axios behind a proxy that loses answers: each call is sent until its answer comes.
import { wrapAxiosWithPayment, x402Client } from "@x402/axios";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import axios from "axios";
import { privateKeyToAccount } from "viem/accounts";

const { URL, KEY, NETWORK, MESSAGES, HOOK } = process.env;
const { namedCalls, oneCall } = await import(HOOK);
const client = new x402Client().register(NETWORK, new ExactEvmScheme(privateKeyToAccount(KEY)));
client.registerExtension(namedCalls);
const http = wrapAxiosWithPayment(axios.create(), client);

const answers = [];
for (const message of JSON.parse(MESSAGES)) {
  await oneCall(async () => {
    for (;;) {
      try {
        const answer = await http.post(URL, { message });
        answers.push(answer.data.youSent);
        return;
      } catch {
        continue;
      }
    }
  });
}
console.log(JSON.stringify(answers));
