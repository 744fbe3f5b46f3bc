// npm @x402/fetch with @x402/svm.
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";

const { URL, KEY, RPC_URL, NETWORK, MESSAGE } = process.env;
const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(KEY));
const client = new x402Client().register(NETWORK, new ExactSvmScheme(signer, { rpcUrl: RPC_URL }));
const answer = await wrapFetchWithPayment(fetch, client)(URL, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: MESSAGE }),
});
const receipt = answer.headers.get("payment-response");
console.log(JSON.stringify({ status: answer.status, body: await answer.text(), receipt, elsewhere: globalThis.elsewhere }));
