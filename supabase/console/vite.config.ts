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
    // What views share is one file: split by its users it would be thirty, which compress badly.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: "shared", test: /console\/src\/(api|components|session|state)\// }],
        },
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
};
