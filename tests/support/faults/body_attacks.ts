/**
 * Request bodies that reserve an isolate's memory without being sent, as parts for a raw connection to the function's
 * own port.
 */

const MEGABYTES_32 = 32 * 1024 * 1024;

function begin(key: string, headers: string, path = "/api/files"): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;
}

export const BODY_ATTACKS: Readonly<Record<string, (key: string) => (string | number)[]>> = {
  "a chunked body that trickles": (key) => [
    begin(key, "transfer-encoding: chunked"),
    '1b\r\n{"path":"t.txt","content":"\r\n',
    ...Array.from({ length: 20 }, () => ["1\r\nx\r\n", 300]).flat(),
  ],
  "a body of 32 MB that is announced and never comes": (key) => [
    begin(key, `content-length: ${MEGABYTES_32}`),
  ],
  "a raw body of 32 MB that is announced and never comes": (key) => [
    begin(key, `content-length: ${MEGABYTES_32}`, "/api/files?path=r.bin"),
  ],
};
