// The native engine behind 'hooke view': one WebSocket is one engine. The address is the page's own
// with the token that the program printed.
import type { Link } from './engine';

export function socketAddress(location: Location, path: string): string {
  const address = new URL(path, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  const token = new URLSearchParams(location.search).get('token');
  if (token) address.searchParams.set('token', token);
  return address.href;
}

export class SocketLink implements Link {
  onMessage: (message: string | ArrayBuffer) => void = () => {};
  onBroken: (why: string) => void = () => {};

  private constructor(private socket: WebSocket) {
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.onMessage(event.data);
    socket.onclose = (event) =>
      this.onBroken(event.reason
        ? `'hooke view' closed the connection: ${event.reason}.`
        : "The connection to 'hooke view' is closed. Is it still running? Start it again and open the address that it prints; with the same --port and --token-file this page connects by itself.");
  }

  static open(address: string): Promise<SocketLink> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(address, 'hooke'); // the name of the protocol
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => resolve(new SocketLink(socket));
      socket.onerror = () =>
        reject(new Error("'hooke view' does not let this page in. Open the whole address that it prints, the token included; it may also serve too many pages at once."));
    });
  }

  send(message: string | ArrayBuffer): void { this.socket.send(message); }
  close(): void {
    this.socket.onclose = null;
    this.socket.close();
  }
}
