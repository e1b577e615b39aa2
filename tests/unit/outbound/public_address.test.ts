import { assertEquals } from "@std/assert";
import { isPublicAddress } from "../../../supabase/functions/api/outbound/public_address.ts";

const PUBLIC = [
  ..."1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255"
    .split(" "),
  ..."169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.167.255.255 192.169.0.0"
    .split(" "),
  ..."198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255".split(
    " ",
  ),
  ..."2606:4700:4700::1111 2a00:1450:4001:82f::200e 2001:200::1 2001:4860:4860::8888 2001:dc8::1 2003::1"
    .split(" "),
  ..."2a06:98c1::1 3fff:1000::1 2620:FE::FE".split(" "),
];

const NOT_PUBLIC = [
  ..."0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255".split(
    " ",
  ),
  ..."169.254.0.0 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1"
    .split(" "),
  ..."198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1".split(" "),
  "255.255.255.255",
  // Loopback, unspecified, link-local, site-local, unique local, multicast, discard.
  ...":: ::1 fe80::1 fec0::1 fc00::1 fd12:3456::1 ff02::1 100::1".split(" "),
  // Addresses of IPv4 within others: mapped, compatible, translated (two prefixes), 6to4, Teredo.
  ..."::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:7f00:1 ::7f00:1 ::127.0.0.1 64:ff9b::8.8.8.8".split(" "),
  ..."64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1:: 2002:808:808::1 2001::1 2001:0:4136:e378::1".split(" "),
  // Protocols and documentation.
  ..."2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 3fff::1 3fff:fff::1 5f00::1".split(" "),
  // No addresses, or none in the usual form.
  ...[
    "",
    "a",
    "example.com",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4.5",
    "0x7f.0.0.1",
    "2130706433",
    "1.1.1.1 ",
    "1.1.1.1:80",
  ],
  ...[
    "2606:4700::%eth0",
    "fe80::1%1",
    "2606:4700:::1",
    "2606",
    "[2606:4700::1]",
    "2606:4700::1]:80/[",
    "2606:4700::1/",
  ],
];

Deno.test("only addresses of public hosts are called, at the ends of each range", () => {
  assertEquals(PUBLIC.filter((address) => !isPublicAddress(address)), []);
  assertEquals(NOT_PUBLIC.filter(isPublicAddress), []);
});
