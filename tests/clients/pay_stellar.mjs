// npm @x402/fetch with @x402/stellar.
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { createEd25519Signer } from "@x402/stellar";
import { ExactStellarScheme } from "@x402/stellar/exact/client";

const { URL, KEY, RPC_URL, NETWORK, ASSET, MESSAGE } = process.env;
const scheme = new ExactStellarScheme(createEd25519Signer(KEY, NETWORK), { url: RPC_URL });
const client = new x402Client().register(NETWORK, scheme);
// Its core pays no token without being told to that the scheme does not call a default, and this scheme calls none so.
client.setSpendControls({ allowedAssets: [{ network: NETWORK, asset: ASSET }] });
const answer = await wrapFetchWithPayment(fetch, client)(URL, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: MESSAGE }),
});
const receipt = answer.headers.get("payment-response");
console.log(JSON.stringify({ status: answer.status, body: await answer.text(), receipt, elsewhere: globalThis.elsewhere }));
