// npm @x402/extensions checks what the shop at URL signs: the offers of a challenge, and the receipt of the call that @x402/fetch pays.
// It finds the key by the did:web of each signature.
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import { privateKeyToAccount } from "viem/accounts";

const { URL, KEY, NETWORK, MESSAGE } = process.env;
const call = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ message: MESSAGE }) };

const challenge = await (await fetch(URL, call)).json();
const offers = extractOffersFromPaymentRequired(challenge);
const terms = await Promise.all(offers.map((offer) => verifyOfferSignatureJWS(offer)));
const found = offers.map((offer) => challenge.accepts.indexOf(findAcceptsObjectFromSignedOffer(offer, challenge.accepts)));

const account = privateKeyToAccount(KEY);
const client = new x402Client().register(NETWORK, new ExactEvmScheme(account));
const answer = await wrapFetchWithPayment(fetch, client)(URL, call);
const signed = extractReceiptFromResponse(answer);
const receipt = await verifyReceiptSignatureJWS(signed);
const [offer] = decodeSignedOffers(offers).filter((one) => one.network === NETWORK);
const matches = verifyReceiptMatchesOffer(signed, offer, [account.address]);

const [header, payload, signature] = signed.signature.split(".");
const forged = { format: "jws", signature: [header, Buffer.from(payload, "base64url").toString().replace(":1", ":2"), signature] };
forged.signature[1] = Buffer.from(forged.signature[1]).toString("base64url");
forged.signature = forged.signature.join(".");
const isForgeryTaken = await verifyReceiptSignatureJWS(forged).then(() => true, () => false);

console.log(
  JSON.stringify({ terms, found, receipt, matches, isForgeryTaken, elsewhere: globalThis.elsewhere }),
);
