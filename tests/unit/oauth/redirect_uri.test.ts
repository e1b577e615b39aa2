import { assertEquals } from "@std/assert";
import {
  hostOf,
  isRedirectUri,
  matchesRedirect,
} from "../../../supabase/functions/api/oauth/redirect_uri.ts";

Deno.test("a redirect URI is https, http on the device itself, or an app's own scheme", () => {
  const taken = [
    ..."https://claude.ai/api/mcp/auth_callback https://chatgpt.com/a?b=c&d https://app.example:8443/ https://a"
      .split(" "),
    ..."http://127.0.0.1/ http://127.0.0.1:33418/callback http://localhost:1/a?b http://[::1]:5/a http://localhost"
      .split(" "),
    ..."cursor://anysphere.cursor-mcp/oauth/callback com.example.app:/back vscode://a.b/c".split(" "),
  ];
  assertEquals(taken.filter((uri) => !isRedirectUri(uri)), []);
  const refused = [
    ..."javascript:alert(1) JavaScript:alert(1) data:text/html,a file:///a blob:https://a/b about:blank vbscript:a"
      .split(" "),
    ..."view-source:https://a ws://a/ wss://a/ ftp://a/ filesystem:https://a/b intent://a mailto:a@b".split(
      " ",
    ),
    ..."http://app.example/back http://127.0.0.2/ http://127.0.0.1.example/ http://localhost.example/a http://0.0.0.0/"
      .split(" "),
    ..."http://localhost@app.example/ http://10.0.0.1/ http://[::2]/ http://LOCALHOST.:80/ http:localhost/a"
      .split(" "),
    ..."https://user@a/ https://:p@a/ https://a/#b https://a/# https: https:// https:///a https:a //a/b /back"
      .split(" "),
    ...[
      "",
      "back",
      "https://a/\\b",
      "https://a\\@b/",
      "https://a/ b",
      " https://a/",
      "https://a/\n",
      "https://ä/",
      "https://a/\u202e",
    ],
    ...[
      "https://a/\0",
      "java\tscript:a",
      "https://a:99999/",
      "http://localhost:99999/",
      `https://a/${"b".repeat(512)}`,
    ],
  ];
  assertEquals(refused.filter(isRedirectUri), []);
});

Deno.test("a request's redirect URI is the registered one to the letter, on loopback with any port", () => {
  const cases: readonly (readonly [registered: string, same: readonly string[], other: readonly string[]])[] =
    [
      [
        "https://app.example/back",
        ["https://app.example/back"],
        [
          ..."https://app.example/back/ https://app.example/back?a https://app.example/back/../evil https://app.example/"
            .split(" "),
          ..."https://app.example:443/back https://app.example:444/back https://APP.example/back http://app.example/back"
            .split(" "),
          ..."https://app.example.evil/back https://app.example@evil/back https://app.example/back%2e https://app.example/bac"
            .split(" "),
          ...["https://app.example/back\n", "https://app.example/back ", ""],
        ],
      ],
      [
        "http://127.0.0.1:3000/back?a=b",
        ["http://127.0.0.1:3000/back?a=b", "http://127.0.0.1:65535/back?a=b", "http://127.0.0.1/back?a=b"],
        [
          ..."http://127.0.0.1:3000/back http://127.0.0.1:3000/other?a=b http://localhost:3000/back?a=b"
            .split(" "),
          ..."http://127.0.0.1:3000/x/../back?a=b http://127.0.0.1:80@evil/back?a=b http://127.0.0.1:99999/back?a=b"
            .split(" "),
          ..."https://127.0.0.1:3000/back?a=b http://127.0.0.1:/back?a=b http://127.0.0.1.evil/back?a=b"
            .split(" "),
          ..."http://127.0.0.1:3000/back?a=b#c http://127.0.0.1:3000/back?a=b&c http://127.0.0.1:3000evil/back?a=b"
            .split(" "),
        ],
      ],
      ["http://localhost", ["http://localhost:1/", "http://localhost/", "http://localhost:1"], [
        "http://localhost/a",
        "http://[::1]/",
      ]],
      ["http://[::1]/a", ["http://[::1]:9/a"], ["http://127.0.0.1:9/a", "http://[::1]:9/a/"]],
      ["https://localhost:1/a", ["https://localhost:1/a"], ["https://localhost:2/a"]],
      ["cursor://a/b", ["cursor://a/b"], ["cursor://a/b/", "cursor://a/c", "cursor://a:1/b", "Cursor://a/b"]],
    ];
  for (const [registered, same, other] of cases) {
    assertEquals(same.filter((asked) => !matchesRedirect(registered, asked)), [], registered);
    assertEquals(other.filter((asked) => matchesRedirect(registered, asked)), [], registered);
  }
});

Deno.test("the host that gets the code is named, and none for an app on the device", () => {
  const hosts = [
    "https://claude.ai/a",
    "https://app.example:8443/a",
    "https://xn--80ak6aa92e.com/",
    "https://a@b/",
  ];
  assertEquals(hosts.map(hostOf), ["claude.ai", "app.example:8443", "xn--80ak6aa92e.com", "b"]);
  const local = [
    "http://localhost:1/",
    "http://127.0.0.1/",
    "https://localhost/a",
    "https://127.0.0.1:1/",
    "cursor://claude.ai/a",
  ];
  assertEquals(local.map(hostOf), local.map(() => ""));
});
