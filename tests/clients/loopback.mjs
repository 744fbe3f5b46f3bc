// Preloaded by every client: a connection to anything but this machine fails, and is told in globalThis.elsewhere.
import net from "node:net";

globalThis.elsewhere = [];
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = options?.host;
  if (!host || ["127.0.0.1", "::1", "localhost"].includes(host)) return connect.apply(this, args);
  globalThis.elsewhere.push(`${host}:${options.port}`);
  process.nextTick(() => this.destroy(new Error(`not this machine: ${host}`)));
  return this;
};
