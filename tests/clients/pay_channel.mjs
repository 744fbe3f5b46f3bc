// npm @x402/fetch with @x402/evm: opens a channel, pays many calls by vouchers, two at a time, and has the rest back.
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client";
import { toClientEvmSigner } from "@x402/evm";
import { createPublicClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const { CALLS, COUNT, PAIRS, KEY, NETWORK, RPC_URL } = process.env;
const calls = JSON.parse(CALLS);
const chain = createPublicClient({ transport: http(RPC_URL) });
const scheme = new BatchSettlementEvmScheme(toClientEvmSigner(privateKeyToAccount(KEY), chain));
const pay = wrapFetchWithPayment(fetch, new x402Client().register(NETWORK, scheme));

const receipts = [];
const buy = async ({ url, body }) => {
  try {
    const answer = await pay(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const receipt = answer.headers.get("payment-response");
    await answer.text();
    if (receipt && answer.status === 200) receipts.push(JSON.parse(atob(receipt)));
    return answer.status;
  } catch (error) {
    return String(error);
  }
};

const statuses = [];
for (let number = 0; number < Number(COUNT); number++) statuses.push(await buy(calls[number % calls.length]));
const pairs = [];
for (let number = 0; number < Number(PAIRS); number++) {
  const pair = [0, 1].map((one) => ({ ...calls[0], body: { message: `pair ${number} ${one}` } }));
  pairs.push(...(await Promise.all(pair.map(buy))));
}
const refund = await scheme.refund(calls[0].url);
const told = JSON.stringify({ statuses, pairs, receipts, refund, elsewhere: globalThis.elsewhere });
process.stdout.write(told, () => process.exit(0));
