// For the official JavaScript clients of x402, such as @x402/fetch and @x402/axios: one name for one call, however often it is sent.
//
// These clients sign a new payment each time they send a call again. When an answer was lost on its way, the call is then paid
// twice. A server that takes the extension payment-identifier settles only the first payment under a name, and gives its answer to
// the others (x402 specs/extensions/payment_identifier.md).
//
//   client.registerExtension(namedCalls);               // of x402Client
//
//   const answer = await oneCall(async () => {
//     ...                                               // send it until an answer comes
//   });
//
// It needs AsyncLocalStorage, which Node, Deno, Bun and Cloudflare Workers have.
import { AsyncLocalStorage } from "node:async_hooks";

const KEY = "payment-identifier";
const names = new AsyncLocalStorage();

/** A name that nobody else has. */
export const newName = () => `call_${crypto.randomUUID().replaceAll("-", "")}`;

/**
 * All that `send` pays is one call: it must be the same request each time.
 *
 * @param send - a function, which may be asynchronous; its result is returned.
 * @param name - 16 to 128 letters, digits, hyphens or underscores, for a call that another process may send again.
 */
export const oneCall = (send, name = newName()) => names.run(name, send);

/** The extension. A payment outside of `oneCall` gets a name for itself. */
export const namedCalls = {
  key: KEY,
  enrichPaymentPayload: async (payload, required) =>
    required.extensions?.[KEY] === undefined
      ? payload
      : {
          ...payload,
          extensions: { ...payload.extensions, [KEY]: { info: { required: false, id: names.getStore() ?? newName() } } },
        },
};
