/** Which addresses are those of public hosts: the service connects to no other one that a stranger names. */

/** Ranges of IPv4 that are no public host's, by IANA's registry of special purposes: this network, private ones, … */
const NOT_PUBLIC =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 " +
  "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3";
/** Global unicast but for protocols with Teredo (2001::/23), 6to4 (2002::/16), documentation (2001:db8::/32, 3fff::/20). */
const PUBLIC_6 = /^(?!2001:0[01]|2001:0db8|2002|3fff:0)[23]/;

/**
 * Whether the text is the address of a public host. IPv6 must be global unicast: so no address that contains one of
 * IPv4 (`::ffff:`, `64:ff9b::`, 6to4, Teredo) reaches that one by another name.
 */
export function isPublicAddress(address: string): boolean {
  const number = ipv4(address);
  if (number !== undefined) {
    return NOT_PUBLIC.split(" ").every((range) => {
      const [first = "", length] = range.split("/");
      return (number ^ (ipv4(first) ?? 0)) >>> (32 - Number(length)) !== 0;
    });
  }
  // The parser of URLs writes each IPv6 address in one form, and refuses zones.
  const text = /^[\da-f.]*:[\da-f:.]*$/i.test(address)
    ? URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1)
    : undefined;
  const groups = text?.split("::", 1)[0]?.split(":").map((group) => group.padStart(4, "0")) ?? [];
  return PUBLIC_6.test([...groups, "0000"].join(":"));
}

function ipv4(address: string): number | undefined {
  const parts = /^\d{1,3}(\.\d{1,3}){3}$/.test(address) ? address.split(".").map(Number) : [256];
  return parts.every((part) => part < 256) ? parts.reduce((sum, part) => sum * 256 + part, 0) : undefined;
}
