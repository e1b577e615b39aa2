/** The version of the service: /health and /openapi.json show it. */
export const VERSION = "1.0.0";
