/** Relative addresses, so that the page works under any path of any host. */
export default {
  base: "./",
  clearScreen: false,
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    // A data: address would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2_000,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
};
